"""Qdrant as the engine."""
