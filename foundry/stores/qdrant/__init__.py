"""Publishes an index into Qdrant."""
