"""A text in blocks: paragraphs, headings, and what a reader keeps whole."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from foundry.records import Reading

LONG_CHARS = 40
"""Headings, and blocks of fewer characters, are short."""

_PARAGRAPH_END = re.compile(r"\n(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a text, without white space at its ends.

    `key` is the same for the same words in any case; it is odd for headings and short blocks.
    """

    start: int
    end: int
    key: int
    is_heading: bool


def find_blocks(reading: Reading) -> Iterator[Block]:
    """Yield the blocks of a document's body, in order; none overlap."""
    text = reading.text
    whole = sorted(
        [(heading.start, heading.end, True) for heading in reading.headings]
        + [(block.start, block.end, False) for block in reading.blocks]
    )
    position = reading.body_start
    for start, end, is_heading in whole:
        if start >= position:
            yield from _find_paragraphs(text, position, start)
            yield from _make_block(text, start, end, is_heading=is_heading)
            position = end
    yield from _find_paragraphs(text, position, len(text))


def _find_paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    for match in _PARAGRAPH_END.finditer(text, start, end):
        yield from _make_block(text, start, match.start())
        start = match.end()
    yield from _make_block(text, start, end)


def _make_block(text: str, start: int, end: int, *, is_heading: bool = False) -> Iterator[Block]:
    raw = text[start:end]
    words = " ".join(raw.split()).casefold()
    if not words:
        return
    start += len(raw) - len(raw.lstrip())
    digest = int.from_bytes(blake2b(words.encode(), digest_size=8).digest(), "big")
    is_short = is_heading or len(words) < LONG_CHARS
    yield Block(start, start + len(raw.strip()), digest & ~1 | is_short, is_heading)
