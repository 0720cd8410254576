"""Ways of cutting a document into pieces, most of them by its sections."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from foundry.chunking.packing import Packer, join
from foundry.records import Document, Piece, Span, is_code
from foundry.runtime.chat.text import find_sentence_ends


@dataclass(frozen=True, slots=True)
class Section:
    """From a heading (or the beginning) to the next heading; `body_start` follows the heading."""

    start: int
    body_start: int
    end: int
    heading_path: tuple[str, ...] = ()


def find_sections(document: Document) -> list[Section]:
    """Return the sections of a document in their order; together they cover its whole body.

    A heading without text only ends the sections of its level, as the end of a method does.
    """
    reading = document.reading
    headings = [heading for heading in reading.headings if heading.start >= reading.body_start]
    ends = [heading.start for heading in headings[1:]] + [len(reading.text)]
    first = headings[0].start if headings else len(reading.text)
    sections = [Section(reading.body_start, reading.body_start, first)]
    ancestors: list[tuple[int, str]] = []
    for heading, end in zip(headings, ends, strict=False):
        while ancestors and ancestors[-1][0] >= heading.level:
            ancestors.pop()
        ancestors.append((heading.level, heading.text))
        path = tuple(text for _, text in ancestors if text)
        sections.append(Section(heading.start, heading.end, end, path))
    return join_bare_headings(sections, reading.text)


class PathFinder:
    """Tells the heading path of any place in a document."""

    def __init__(self, document: Document) -> None:
        self._text = document.reading.text
        self._sections = find_sections(document)
        self._starts = [section.start for section in self._sections]

    def path_at(self, place: int) -> tuple[str, ...]:
        """Return the path of the first text at or after a place."""
        while place + 1 < len(self._text) and self._text[place].isspace():
            place += 1
        return self._sections[max(0, bisect_right(self._starts, place) - 1)].heading_path


def join_bare_headings(sections: Sequence[Section], text: str) -> list[Section]:
    """Let a heading without text of its own begin the section below it.

    Only when that section is deeper, so that its path names the bare heading too. A bare heading
    before a sibling stays a section, since its words would be found nowhere else.
    """
    joined: list[Section] = []
    start: int | None = None
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        begin = section.start if start is None else start
        is_bare = not text[section.body_start : section.end].strip()
        depth = len(section.heading_path)
        if is_bare and following and depth < len(following.heading_path):
            start = begin
            continue
        joined.append(Section(begin, section.body_start, section.end, section.heading_path))
        start = None
    return joined


def split_headings(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield a piece for each section; sections above the limit are cut, and keep the heading path.

    The heading's own line belongs to the first piece. A piece that would be nothing but the heading
    is left out when others follow it: their path says the same words.
    """
    for section in find_sections(document):
        yield from _split_section(document, packer, section)


def _split_section(document: Document, packer: Packer, section: Section) -> Iterator[Piece]:
    """Yield the pieces of one section."""
    spans = packer.split(section.start, section.end)
    for span in _without_bare_heading(spans, section, document.reading.text):
        yield Piece(span.start, span.end, section.heading_path)


def _without_bare_heading(spans: Sequence[Span], section: Section, text: str) -> Sequence[Span]:
    """Return the spans of a section, less a first one that is nothing but its heading."""
    is_bare = len(spans) > 1 and not text[section.body_start : spans[0].end].strip()
    return spans[1:] if is_bare else spans


def split_nothing(document: Document, _: object) -> Iterator[Piece]:
    """Yield the one piece of a document: its body."""
    yield Piece(document.reading.body_start, len(document.reading.text))


def split_pages(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield pages, cut where one is too large; without pages, the pieces of `headings`.

    The heading path of a piece is that of the place at which it begins.
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
            yield from _split_section(document, packer, group[0])


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
            for piece in _split_section(document, larger, group[0]):
                parent = Span(piece.start, piece.end)
                for span in packer.split(parent.start, parent.end):
                    yield Piece(span.start, span.end, piece.heading_path, parent)
            continue
        parent = Span(group[0].start, group[-1].end)
        for section in group:
            for span in packer.split(section.start, section.end):
                yield Piece(span.start, span.end, section.heading_path, parent)


def group_sections(
    sections: Sequence[Section], limit: int, *, depth: int = 0
) -> Iterator[Sequence[Section]]:
    """Groups in order: the largest subtrees of at most `limit` characters, else single sections.

    A section goes on where its path comes again, as a class does after a method. No group begins
    above `depth` headings, a single section aside.
    """
    ends = _find_ends(sections)
    place = 0
    while place < len(sections):
        section, end = sections[place], ends[place]
        fits = sections[end - 1].end - section.start <= limit
        if not fits or len(section.heading_path) < depth:
            end = place + 1
        yield sections[place:end]
        place = end


def _find_ends(sections: Sequence[Section]) -> list[int]:
    """For each section the number of the first one after it that is not below it."""
    ends = [len(sections)] * len(sections)
    opened: list[int] = []
    for number, section in enumerate(sections):
        path = section.heading_path
        while opened and _is_over(sections[opened[-1]].heading_path, path):
            ends[opened.pop()] = number
        opened.append(number)
    return ends


def _is_over(path: tuple[str, ...], following: tuple[str, ...]) -> bool:
    return len(following) < len(path) or (len(following) == len(path) and following != path)


def split_sentences(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield whole sentences of one section packed up to the limit; the overlap is sentences too.

    A sentence above the limit is cut as a paragraph is. Blocks (fences, tables) count as sentences.
    """
    by_sentences = replace(packer, cut_prose=_cut_sentences)
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


def _cut_sentences(text: str, start: int, end: int) -> Iterator[Span]:
    for cut in (*find_sentence_ends(text, start, end), end):
        if cut > start:
            yield Span(start, cut)
            start = cut


def _overlap(pieces: Sequence[Span], units: Sequence[Span], packer: Packer) -> list[Span]:
    """Let each piece after the first begin with the last sentences of the one before it."""
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
