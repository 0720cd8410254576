"""How a viewer shows a PDF page: its direction, and texts that are not seen."""
