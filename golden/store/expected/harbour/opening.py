"""How this server opens an index: with the lanes that search it, and what embeds queries."""

from pathlib import Path

from .index.reader import OpenedIndex
from .retrieval.encoder import open_encoder
from .store.lanes import open_stored
from .store.pgvector import open_engine


def open_index(directory: Path) -> OpenedIndex:
    """Open the version that a folder publishes. Raises IndexUnusableError."""
    return open_stored(directory, open_engine=open_engine, open_encoder=open_encoder)
