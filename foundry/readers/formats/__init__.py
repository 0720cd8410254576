"""Readers, with one module or folder for each format."""
