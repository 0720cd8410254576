"""Reads passages unit by unit, and quotes units with what belongs to them."""
