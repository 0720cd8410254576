"""Reads OpenDocument: texts, presentations, drawings and spreadsheets."""
