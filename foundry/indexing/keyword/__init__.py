"""Writes the keyword lane: terms, postings, and the names that queries may contain."""
