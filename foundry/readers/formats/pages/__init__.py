"""Reads HTML pages: finds their content, and converts it to Markdown."""
