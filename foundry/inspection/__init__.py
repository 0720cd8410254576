"""Show what is in an index, and what is on this machine."""
