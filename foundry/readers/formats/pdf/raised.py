"""Digits that are set higher or lower than the line: exponents, references to notes, indices.

As plain text, 10 with a raised 6 would be another number, and a name with the number of a note
another name.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

SMALLER = 0.85
"""The greatest size of raised type, as a share of that of its line."""
SHIFT = 0.12
"""The least distance from the line, in heights of its type."""
MAX_WORD = 60

_WORD = re.compile(r"\S+")
_RAISED = re.compile(r"[-+\u2212\u2013]?\d+(?:,\d+)*")
_NOTED = re.compile(r"[^\W\d_]{3}\W*$|[.,;:!?'\"\u2019\u201c\u201d\xab\xbb]$")
_FUNCTION = re.compile(r"(?:sin|cos|tan|cot|sec|log|exp|det)h?$")


class Glyph(NamedTuple):
    """The size of a character's type, and its lower and upper edge, in points."""

    size: float
    bottom: float
    top: float


def mark_raised(text: str, glyph: Callable[[int], Glyph]) -> str:
    """Return a line with `10^6`, `word [3]` and `1010_2` where digits are raised or lowered.

    `glyph` gives the type of the character at a place in the text. Indices of letters (H2O) stay.
    """
    parts, end = [], 0
    for word in _WORD.finditer(text):
        if not 1 < len(word[0]) <= MAX_WORD or not any(map(str.isdigit, word[0])):
            continue
        for place, written in _find_raised(word[0], word.start(), glyph):
            parts += [text[end : place.start], written]
            end = place.stop
    return "".join([*parts, text[end:]])


def _find_raised(
    word: str, start: int, glyph: Callable[[int], Glyph]
) -> Iterator[tuple[slice, str]]:
    """Yield the places of raised and lowered digits in a word, and what to write there."""
    for found in _RAISED.finditer(word):
        first, stop = found.span()
        large = SMALLER * glyph(start + max(first - 1, 0)).size
        if glyph(start + stop - 1).size >= large:
            continue
        while glyph(start + first).size >= large:
            first += 1
        if first:
            base, raised = glyph(start + first - 1), glyph(start + first)
            written = _write(word[:first], word[first:stop], base, raised)
            if written:
                yield slice(start + first, start + stop), written


def _write(before: str, digits: str, base: Glyph, raised: Glyph) -> str | None:
    shift = SHIFT * (base.top - base.bottom)
    if raised.bottom - base.bottom > shift:
        is_note = _NOTED.search(before) and not _FUNCTION.search(before)
        return f" [{digits}]" if is_note else f"^{digits}"
    if base.top - raised.top > shift and before[-1].isdigit():
        return f"_{digits}"
    return None
