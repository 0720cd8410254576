"""Writes files for stages before a search: completion, correction, synonyms, pinned answers."""
