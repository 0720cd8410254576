"""Writes what reads a query before the lanes do: completion, correction, synonyms, pins."""
