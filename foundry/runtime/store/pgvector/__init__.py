"""PostgreSQL with pgvector as the engine."""
