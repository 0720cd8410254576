"""The engine of this server: PostgreSQL with pgvector."""

from .store_pgvector import open_engine

__all__ = ["open_engine"]
