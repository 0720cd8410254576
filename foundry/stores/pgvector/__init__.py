"""Publishes an index into PostgreSQL with pgvector."""
