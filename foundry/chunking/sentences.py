"""Whole sentences of one section packed up to the limit; the overlap is whole sentences too.

A sentence above the limit is cut as a paragraph is. Blocks (fences, tables) count as sentences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from foundry.chunking.headings import without_bare_heading
from foundry.chunking.packing import Packer, join
from foundry.chunking.sections import find_sections
from foundry.records import Document, Piece, Span
from foundry.runtime.chat.text import find_sentence_ends


def split(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield the pieces of a document, in its order."""
    by_sentences = replace(packer, cut_prose=_cut_sentences)
    for section in find_sections(document):
        spans = [Span(section.start, section.end)]
        if section.end - section.start > packer.options.max_chars:
            units = [
                *packer.units(section.start, section.body_start),
                *by_sentences.units(section.body_start, section.end),
            ]
            spans = _overlap(join(units, packer.capacity), units, packer)
        for span in without_bare_heading(spans, section, document.reading.text):
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
