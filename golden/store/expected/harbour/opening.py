"""How this server opens an index: which lanes search it, and what embeds queries."""

from pathlib import Path

from .index.files import IndexFiles
from .index.reader import Index
from .index.served import current_index, load, served
from .retrieval.encoder import open_encoder
from .store.lanes import StoredDenseLane, StoredKeywordLane
from .store.pgvector import open_engine
from .store.store import HELD_FILES, open_store

__all__ = ["current_index", "load", "open_index", "served"]


def open_index(directory: Path) -> Index:
    """Open what searches read of an index. Raises IndexUnusableError."""
    files = IndexFiles.open(directory, HELD_FILES)
    store = open_store(files, open_engine)
    return Index(
        files, StoredKeywordLane(files, store), StoredDenseLane(store), open_encoder(files)
    )


served.open_with(open_index)
