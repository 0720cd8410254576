"""Read PDF: text with its place and size on each page, and the structure that these show."""
