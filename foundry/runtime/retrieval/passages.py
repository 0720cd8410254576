"""What is read where a chunk was found: the chunk itself."""

from ..index.reader import Index
from ..index.records import ChunkRecord
from .results import Passage


def read_passage(_index: Index, chunk: ChunkRecord) -> Passage:
    """The passage to read."""
    return Passage(chunk.text, chunk.section, chunk.position)
