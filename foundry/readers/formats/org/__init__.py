"""Reads Org."""
