"""How this server opens an index: its lanes and the query encoder.

Search code imports `current_index` from here, so that it is set up first.
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
    """Open the current version in a folder. Raises IndexUnusableError."""
    return OpenedIndex.open(directory, KeywordLane.open, DenseLane.open, open_encoder, parts=PARTS)


served.opener = open_index
load, current_index = served.load, served.current
