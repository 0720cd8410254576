"""Pieces filled up to the limit: whole sections where they fit, parts of them where they do not.

A piece's heading path is that of the place at which it begins.
"""

from bisect import bisect_right
from collections.abc import Iterator

from foundry.chunking.packing import Packer, join
from foundry.chunking.sections import find_sections
from foundry.records import Document, Piece, Span


def split(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield the pieces of a document, in its order."""
    sections = find_sections(document)
    units: list[Span] = []
    for section in sections:
        if section.end - section.start <= packer.capacity:
            units.append(Span(section.start, section.end))
        else:
            units += packer.units(section.start, section.end)
    starts = [section.start for section in sections]
    pieces = join([unit for unit in units if unit.end > unit.start], packer.capacity)
    for piece, extended in zip(pieces, packer.overlap(pieces), strict=True):
        path = sections[bisect_right(starts, piece.start) - 1].heading_path
        yield Piece(extended.start, extended.end, path)
