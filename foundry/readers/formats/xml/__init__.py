"""Reads XML: known vocabularies of prose, and any other."""
