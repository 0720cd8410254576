"""The whole document as one piece, of any size."""

from collections.abc import Iterator

from foundry.chunking.packing import Packer
from foundry.config import ChunkingOptions
from foundry.records import Document, Piece


def split(document: Document, packer: Packer, options: ChunkingOptions) -> Iterator[Piece]:
    """The one piece of a document: its body."""
    yield Piece(document.reading.body_start, len(document.reading.text))
