"""Splits passages into units, and quotes units with their context."""
