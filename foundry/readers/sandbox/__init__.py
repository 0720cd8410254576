"""Worker processes that run the parsers of untrusted formats."""
