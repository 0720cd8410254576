"""The engine of this server: Qdrant."""

from .store_qdrant import open_engine

__all__ = ["open_engine"]
