"""Turns passages and queries into vectors."""
