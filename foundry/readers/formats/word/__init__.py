"""Word documents (.docx)."""
