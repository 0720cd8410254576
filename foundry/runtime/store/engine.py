"""The engine of this server: PostgreSQL with pgvector."""

from .pgvector import open_engine

__all__ = ["open_engine"]
