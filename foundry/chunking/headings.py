"""One chunk a section; sections above the limit are cut, their pieces keep the heading path.

The heading's own line belongs to the first piece. A piece that would be nothing but the heading is
left out when others follow it: their path says the same words.
"""

from collections.abc import Iterator, Sequence

from foundry.chunking.packing import Packer
from foundry.chunking.sections import Section, find_sections
from foundry.records import Document, Piece, Span


def split(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield the pieces of a document, in its order."""
    for section in find_sections(document):
        yield from split_section(document, packer, section)


def split_section(document: Document, packer: Packer, section: Section) -> Iterator[Piece]:
    """Yield the pieces of one section."""
    spans = packer.split(section.start, section.end)
    for span in without_bare_heading(spans, section, document.reading.text):
        yield Piece(span.start, span.end, section.heading_path)


def without_bare_heading(spans: Sequence[Span], section: Section, text: str) -> Sequence[Span]:
    """Return the spans of a section, less a first one that is nothing but its heading."""
    is_bare = len(spans) > 1 and not text[section.body_start : spans[0].end].strip()
    return spans[1:] if is_bare else spans
