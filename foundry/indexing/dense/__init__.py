"""Writes what the dense lane reads: vectors, their sketch, and how well the sketch works."""
