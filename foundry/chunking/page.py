"""One piece a page, slide or sheet; larger ones are cut. Other documents are cut by headings.

A piece's heading path is that of the place at which it begins.
"""

from collections.abc import Iterator
from itertools import pairwise

from foundry.chunking import headings
from foundry.chunking.packing import Packer
from foundry.chunking.sections import PathFinder
from foundry.records import Document, Piece


def split(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield the pieces of a document, in its order."""
    reading = document.reading
    if not reading.pages:
        yield from headings.split(document, packer)
        return
    paths = PathFinder(document)
    for start, end in pairwise(sorted({reading.body_start, *reading.pages, len(reading.text)})):
        for span in packer.split(start, end) if start >= reading.body_start else ():
            yield Piece(span.start, span.end, paths.path_at(span.start))
