"""What is read where a chunk was found: the chunk itself."""

from .index import Index
from .passage import Passage
from .records import ChunkRecord


def read_passage(_index: Index, chunk: ChunkRecord) -> Passage:
    """The passage to read."""
    return Passage(chunk.text, chunk.section, chunk.position)
