"""Writes rendered files to a folder and checks folders that were written."""
