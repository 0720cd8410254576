"""Reads AsciiDoc."""
