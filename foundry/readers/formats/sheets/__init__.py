"""Reads spreadsheets and delimited text."""
