"""Reads XML: known vocabularies of prose, and all others."""
