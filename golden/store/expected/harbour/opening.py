"""How this server opens an index: its lanes and the query encoder.

Search code imports `current_index` from here, so that it is set up first.
"""

from pathlib import Path

from .index.documents import Documents
from .index.reader import OpenedIndex, served
from .retrieval.encoder import open_encoder
from .retrieval.filters import FilterColumns
from .store.lanes import open_stored
from .store.pgvector.engine import open_engine

PARTS = Documents.open, FilterColumns.open


def open_index(directory: Path) -> OpenedIndex:
    """Open the current version in a folder. Raises IndexUnusableError."""
    return open_stored(directory, open_engine=open_engine, open_encoder=open_encoder, parts=PARTS)


served.opener = open_index
load, current_index = served.load, served.current
