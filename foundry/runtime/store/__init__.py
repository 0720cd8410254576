"""The engine that holds the lanes of an index."""
