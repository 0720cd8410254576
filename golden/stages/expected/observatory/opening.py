"""How this server opens an index: which lanes search it, and what embeds queries."""

from pathlib import Path

from .index.files import IndexFiles
from .index.reader import Index
from .index.served import current_index, load, served
from .retrieval.dense_lane import DenseLane
from .retrieval.encoder import open_encoder
from .retrieval.keyword_lane import KeywordLane

__all__ = ["current_index", "load", "open_index", "served"]


def open_index(directory: Path) -> Index:
    """Open what searches read of an index. Raises IndexUnusableError."""
    files = IndexFiles.open(directory)
    return Index(files, KeywordLane.open(files), DenseLane.open(files), open_encoder(files))


served.open_with(open_index)
