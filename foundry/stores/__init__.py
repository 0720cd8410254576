"""Publishing an index into an external engine."""
