"""PostgreSQL with pgvector as the search engine."""
