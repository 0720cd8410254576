"""Publishing an index into PostgreSQL with pgvector."""
