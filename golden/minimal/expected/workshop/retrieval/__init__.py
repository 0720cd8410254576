"""Search: parses a query, ranks the chunks of an index, and describes the best."""
