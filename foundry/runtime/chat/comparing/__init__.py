"""Compares sentences: negations, opposites, and numbers taken from elsewhere."""
