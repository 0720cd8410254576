"""Writes files for query stages: completion, correction, synonyms, pinned answers."""
