"""Source code by its definitions: a class or a function that fits is one piece, as a whole.

A class above the limit is opened: its methods are pieces, and what stands between them. Where the
reader found no definitions, and in all other documents, the pieces are those of `headings`.
"""

from collections.abc import Iterator

from foundry.chunking.headings import split_section
from foundry.chunking.outline import group_sections
from foundry.chunking.packing import Packer
from foundry.chunking.sections import find_sections
from foundry.records import Document, Piece, is_code

_OUTERMOST = 1
"""Headings above a definition at the margin, its own included: a module is not one piece."""


def split(document: Document, packer: Packer) -> Iterator[Piece]:
    """Yield the pieces of a document, in its order."""
    limit = packer.options.max_chars if is_code(document) else 0
    for group in group_sections(find_sections(document), limit, depth=_OUTERMOST):
        if len(group) > 1:
            yield Piece(group[0].start, group[-1].end, group[0].heading_path)
        else:
            yield from split_section(document, packer, group[0])
