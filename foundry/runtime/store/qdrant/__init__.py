"""Qdrant as the search engine."""
