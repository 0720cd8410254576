"""The engine of this server: Qdrant."""

from .qdrant import open_engine

__all__ = ["open_engine"]
