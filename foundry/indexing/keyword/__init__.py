"""Writes what the keyword lane reads: terms, postings, and the headings a query may name."""
