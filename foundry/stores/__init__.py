"""Publishes an index into an external search engine."""
