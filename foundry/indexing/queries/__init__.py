"""Files for what happens before a search: completion, correction, synonyms, pinned answers."""
