"""The whole document as one piece, of any size."""

from collections.abc import Iterator

from foundry.records import Document, Piece


def split(document: Document, _: object) -> Iterator[Piece]:
    """Yield the one piece of a document: its body."""
    yield Piece(document.reading.body_start, len(document.reading.text))
