"""What is read where a chunk was found: its parent, the larger passage around it."""

from ..index.reader import Index
from ..index.records import ChunkRecord
from .results import Passage
from .stages.parents import find_passage


def read_passage(index: Index, chunk: ChunkRecord) -> Passage:
    """The passage to read; the chunk itself where the index says of no parent."""
    return find_passage(index, chunk) or Passage(chunk.text, chunk.section, chunk.position)
