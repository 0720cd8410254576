"""Ways of cutting a document into pieces, beside those by headings and by sentences."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from foundry.chunking import headings
from foundry.chunking.headings import split_section
from foundry.chunking.outline import group_sections
from foundry.chunking.packing import Packer, join
from foundry.chunking.sections import PathFinder, find_sections
from foundry.records import Document, Piece, Span, is_code


def split_nothing(document: Document, _: object) -> Iterator[Piece]:
    """Yield the one piece of a document: its body."""
    yield Piece(document.reading.body_start, len(document.reading.text))


def split_pages(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield pages, cut where one is too large; without pages, the pieces of `headings`.

    The heading path of a piece is that of the place at which it begins.
    """
    reading = document.reading
    if not reading.pages:
        yield from headings.split(document, packer)
        return
    paths = PathFinder(document)
    for start, end in pairwise(sorted({reading.body_start, *reading.pages, len(reading.text)})):
        for span in packer.split(start, end) if start >= reading.body_start else ():
            yield Piece(span.start, span.end, paths.path_at(span.start))


def split_evenly(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield pieces that are as large as they may be, whatever sections they span.

    The heading path of a piece is that of the place at which it begins.
    """
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


_OUTERMOST = 1
"""Headings above a definition at the margin, its own included: a module is not one piece."""


def split_definitions(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield definitions of source code: a class or function that fits is one piece, as a whole.

    A class above the limit is opened: its methods are pieces, and what stands between them. Where
    the reader found no definitions, and in all other documents, pieces are those of `headings`.
    """
    limit = packer.options.max_chars if is_code(document) else 0
    for group in group_sections(find_sections(document), limit, depth=_OUTERMOST):
        if len(group) > 1:
            yield Piece(group[0].start, group[-1].end, group[0].heading_path)
        else:
            yield from split_section(document, packer, group[0])


def split_parents(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield small pieces to be found, each with the larger passage that is to be read, its parent.

    A parent is the largest section around a piece, with the sections below it, that is within
    `parent_max_chars`; a section whose own text is larger is cut into several.
    """
    limit = packer.options.parent_max_chars
    larger_options = packer.options.model_copy(update={"max_chars": limit, "overlap": 0})
    larger = replace(packer, options=larger_options)
    for group in group_sections(find_sections(document), limit):
        if len(group) == 1:
            for piece in split_section(document, larger, group[0]):
                parent = Span(piece.start, piece.end)
                for span in packer.split(parent.start, parent.end):
                    yield Piece(span.start, span.end, piece.heading_path, parent)
            continue
        parent = Span(group[0].start, group[-1].end)
        for section in group:
            for span in packer.split(section.start, section.end):
                yield Piece(span.start, span.end, section.heading_path, parent)
