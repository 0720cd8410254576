"""Writes, updates and verifies exports."""
