"""How this server opens an index: with the lanes that search it, and what embeds queries.

Whoever searches imports `current_index` from here, so that there is one.
"""

from pathlib import Path

from .index.documents import Documents
from .index.reader import OpenedIndex, served
from .retrieval.dense_lane import DenseLane
from .retrieval.encoder import open_encoder
from .retrieval.filters import FilterColumns
from .retrieval.keyword_lane import KeywordLane

PARTS = Documents.open, FilterColumns.open


def open_index(directory: Path) -> OpenedIndex:
    """Open the version that a folder publishes. Raises IndexUnusableError."""
    return OpenedIndex.open(directory, KeywordLane.open, DenseLane.open, open_encoder, parts=PARTS)


served.opener = open_index
load, current_index = served.load, served.current
