"""Search: parses queries, ranks the chunks of an index, and describes the best ones."""
