"""Reads Word documents (.docx)."""
