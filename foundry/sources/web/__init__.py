"""Reads websites."""
