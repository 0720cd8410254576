"""One chunk a section; sections above the limit are cut, their pieces keep the heading path.

The heading's own line belongs to the first piece. A piece that would be nothing but the heading is
left out when others follow it: their path says the same words.
"""

from collections.abc import Iterator

from foundry.chunking.packing import Packer
from foundry.chunking.sections import find_sections
from foundry.records import Document, Piece


def split(document: Document, packer: Packer) -> Iterator[Piece]:
    """The pieces of a document, in its order."""
    for section in find_sections(document):
        spans = packer.split(section.start, section.end)
        text = document.reading.text
        if len(spans) > 1 and not text[section.body_start : spans[0].end].strip():
            del spans[0]
        for span in spans:
            yield Piece(span.start, span.end, section.heading_path)
