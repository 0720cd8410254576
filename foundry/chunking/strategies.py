"""Strategies for splitting a document into pieces, most of them by sections."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from foundry.chunking.packing import Packer, cut_sentences, join
from foundry.chunking.sections import (
    PathFinder,
    Section,
    common_path,
    find_sections,
    group_sections,
    join_siblings,
)
from foundry.documents import Document, Piece, Span, is_code, is_data

RECORD_FACTOR = 2
"""A record up to this multiple of the limit is kept whole, since a part may lack its subject."""
_DATA_FIRST = re.compile(r"\s*(?:(?:`{3,}|~{3,})[ \t]*(?:toml|ya?ml|json)\b|\+{3}[ \t]*\n)")


def split_headings(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield a piece for each section; larger sections are split, and keep the heading path.

    A record (YAML, TOML, JSON, or text that begins with a block in one of these formats) of up to
    RECORD_FACTOR times the limit is one piece. In larger records, adjacent keys below the same keys
    are joined. The line of a heading belongs to its first piece. If that piece is only the heading
    and other pieces follow, it is dropped: their paths contain the heading.
    """
    sections, limit = find_sections(document), packer.options.max_chars
    size = sections[-1].end - sections[0].start
    if size <= limit * RECORD_FACTOR and _is_record(document):
        yield _join(sections)
    elif is_data(document):
        for group in join_siblings(sections, limit):
            joined = [_join(group)] if len(group) > 1 else None
            yield from joined or _split_section(document, packer, group[0])
    else:
        for section in sections:
            yield from _split_section(document, packer, section)


def _is_record(document: Document) -> bool:
    """Return whether a document is data, or data followed by text, like advisories."""
    reading = document.reading
    return is_data(document) or _DATA_FIRST.match(reading.text, reading.body_start) is not None


def _join(group: Sequence[Section]) -> Piece:
    """Return the piece of adjacent sections, with the headings that they share."""
    return Piece(group[0].start, group[-1].end, common_path(group))


def _split_section(document: Document, packer: Packer, section: Section) -> Iterator[Piece]:
    spans = packer.split(section.start, section.end)
    for span in _without_bare_heading(spans, section, document.reading.text):
        yield Piece(span.start, span.end, section.heading_path)


def _without_bare_heading(spans: Sequence[Span], section: Section, text: str) -> Sequence[Span]:
    """Drop the first span of a section if it contains only the heading."""
    is_bare = len(spans) > 1 and not text[section.body_start : spans[0].end].strip()
    return spans[1:] if is_bare and not section.other_titles else spans


def split_nothing(document: Document, _: object) -> Iterator[Piece]:
    """Yield the whole body of a document as one piece."""
    yield Piece(document.reading.body_start, len(document.reading.text))


def split_pages(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield pages, split if they are too large.

    A document without pages is split as by `headings`. A piece has the heading path of its
    beginning.
    """
    reading = document.reading
    if not reading.pages:
        yield from split_headings(document, packer)
        return
    paths = PathFinder(document)
    for start, end in pairwise(sorted({reading.body_start, *reading.pages, len(reading.text)})):
        for span in packer.split(start, end) if start >= reading.body_start else ():
            yield Piece(span.start, span.end, paths.path_at(span.start))


def split_evenly(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield pieces that are as large as possible, across sections.

    A piece has the heading path of its beginning.
    """
    sections = find_sections(document)
    units: list[Span] = []
    for section in sections:
        if section.end - section.start <= packer.capacity:
            units.append(Span(section.start, section.end))
        else:
            units += _join_heading(list(packer.units(section.start, section.end)), section, packer)
    starts = [section.start for section in sections]
    pieces = join([unit for unit in units if unit.end > unit.start], packer.capacity)
    for piece, extended in zip(pieces, packer.overlap(pieces), strict=True):
        path = sections[bisect_right(starts, piece.start) - 1].heading_path
        yield Piece(extended.start, extended.end, path)


def _join_heading(units: list[Span], section: Section, packer: Packer) -> list[Span]:
    """Join the unit of a section's heading with the next one, if they fit."""
    heading, *others = units
    is_bare = others and not packer.text[section.body_start : heading.end].strip()
    if is_bare and others[0].end - heading.start <= packer.capacity:
        return [Span(heading.start, others[0].end), *others[1:]]
    return units


_OUTERMOST = 1
"""Minimum path length of sections that become one piece; a whole module has an empty path."""


def split_definitions(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield definitions of source code: a class or function that fits is one piece.

    A larger class is split: its methods are pieces, and so is the text between them. Documents
    without definitions are split as by `headings`.
    """
    if not is_code(document):
        yield from split_headings(document, packer)
        return
    limit = packer.options.max_chars
    for group in group_sections(find_sections(document), limit, depth=_OUTERMOST):
        if len(group) > 1:
            yield Piece(group[0].start, group[-1].end, group[0].heading_path)
        else:
            yield from _split_section(document, packer, group[0])


def split_parents(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield small pieces for searching, each with its parent, the larger passage for reading.

    A parent is the largest section around a piece, with its subsections, within `parent_max_chars`;
    a section whose own text is larger is split into several parents.
    """
    limit = packer.options.parent_max_chars
    larger_options = packer.options.model_copy(update={"max_chars": limit, "overlap": 0})
    larger = replace(packer, options=larger_options)
    for group in group_sections(find_sections(document), limit):
        if len(group) == 1:
            for piece in _split_section(document, larger, group[0]):
                parent = Span(piece.start, piece.end)
                yield from _split_parent(packer, group[0], parent, parent)
            continue
        parent = Span(group[0].start, group[-1].end)
        for section in group:
            yield from _split_parent(packer, section, Span(section.start, section.end), parent)


def _split_parent(packer: Packer, section: Section, part: Span, parent: Span) -> Iterator[Piece]:
    """Yield the pieces of the `part` of a parent that is in one section."""
    spans = packer.split(part.start, part.end)
    for span in _without_bare_heading(spans, section, packer.text):
        yield Piece(span.start, span.end, section.heading_path, parent)


def split_sentences(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield sentences of a section, packed up to the limit; the overlap consists of sentences too.

    A sentence above the limit is split like a paragraph. Blocks (fences, tables) count as
    sentences. Data is split as by `headings`.
    """
    if is_data(document):
        yield from split_headings(document, packer)
        return
    by_sentences = replace(packer, cut_prose=cut_sentences)
    for section in find_sections(document):
        spans = [Span(section.start, section.end)]
        if section.end - section.start > packer.options.max_chars:
            units = [
                *packer.units(section.start, section.body_start),
                *by_sentences.units(section.body_start, section.end),
            ]
            spans = _overlap(join(units, packer.capacity), units, packer)
        for span in _without_bare_heading(spans, section, document.reading.text):
            yield Piece(span.start, span.end, section.heading_path)


def _overlap(pieces: Sequence[Span], units: Sequence[Span], packer: Packer) -> list[Span]:
    """Extend each piece but the first by the last sentences of the previous one."""
    overlap, limit = packer.options.overlap, packer.options.max_chars
    starts = [unit.start for unit in units]
    extended = list(pieces[:1])
    place = 0
    for piece in pieces[1:]:
        earliest = max(piece.start - overlap, piece.end - limit, extended[-1].start + 1)
        while starts[place] < earliest and starts[place] < piece.start:
            place += 1
        extended.append(Span(starts[place], piece.end))
    return extended
