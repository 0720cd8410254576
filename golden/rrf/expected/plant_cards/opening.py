"""How this server opens an index: with the lanes that search it, and what embeds queries."""

from pathlib import Path

from .index.reader import OpenedIndex
from .retrieval.dense_lane import DenseLane
from .retrieval.encoder import open_encoder
from .retrieval.keyword_lane import KeywordLane


def open_index(directory: Path) -> OpenedIndex:
    """Open the version that a folder publishes. Raises IndexUnusableError."""
    return OpenedIndex.open(directory, KeywordLane.open, DenseLane.open, open_encoder)
