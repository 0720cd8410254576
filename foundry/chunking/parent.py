"""Small pieces to be found, each within a larger passage, its parent, that is to be read.

A parent is the largest section around a piece, with the sections below it, that is within
`parent_max_chars`; a section whose own text is larger is cut into several.
"""

from collections.abc import Iterator
from dataclasses import replace

from foundry.chunking.headings import split_section
from foundry.chunking.outline import group_sections
from foundry.chunking.packing import Packer
from foundry.chunking.sections import find_sections
from foundry.records import Document, Piece, Span


def split(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield the pieces of a document, in its order."""
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
