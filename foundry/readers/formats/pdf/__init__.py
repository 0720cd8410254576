"""Reads PDF: text with its position and size on each page, and the structure inferred from it."""
