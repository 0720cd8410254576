"""What is read where a chunk was found: its parent, the larger passage around it."""

from .index import Index
from .parent_expansion import find_passage
from .passage import Passage
from .records import ChunkRecord


def read_passage(index: Index, chunk: ChunkRecord) -> Passage:
    """The passage to read; the chunk itself where the index says of no parent."""
    return find_passage(index, chunk) or Passage(chunk.text, chunk.section, chunk.position)
