"""Publishing an index into Qdrant."""
