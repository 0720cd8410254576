"""Writes what the dense lane reads: vectors, their sketch, and how well it finds what is near."""
