"""Digits set higher or lower than the line: exponents, note references, indices.

In plain text, 10 with a superscript 6 would become another number, and a name with a note's number
another name.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from foundry.readers.formats.pdf.characters import Box, Characters

SMALLER = 0.85
"""Maximum size of superscript type, relative to its line."""
SHIFT = 0.12
"""Minimum shift of a raised or lowered digit, relative to the height of the text before it."""
MAX_WORD = 60

Raised = tuple[int, int, str]
"""Where raised digits begin and end, and the text for them."""

_WITH_DIGIT = re.compile(r"(?<!\S)[^\s\d]*\d\S*")
_RAISED = re.compile(r"[-+\u2212\u2013]?\d+(?:,\d+)*")
_NOTED = re.compile(r"[^\W\d_]{3}\W*$|[.,;:!?'\"\u2019\u201c\u201d\xab\xbb]$")
_FUNCTION = re.compile(r"(?:sin|cos|tan|cot|sec|log|exp|det)h?$")


def find_raised(text: str, places: Sequence[int], characters: Characters) -> list[Raised]:
    """Find raised and lowered digits, with the text for them: `10^6`, `word [3]` and `1010_2`.

    `places` are the positions of the characters on the page. Indices of letters (H2O) are not
    found.
    """
    smaller = _find_smaller(text, places, characters)
    ends = [end for _, first, _ in smaller for end in (places[first - 1], places[first])]
    boxes = characters.boxes(ends).reshape(-1, 2, 4).tolist()
    found = []
    for (start, first, stop), (base, raised) in zip(smaller, boxes, strict=True):
        if digits := _write(text[start:first], text[first:stop], base, raised):
            found.append((first, stop, digits))
    return found


def write_raised(text: str, start: int, stop: int, found: Sequence[Raised]) -> str:
    """Return a part of a text in which the raised digits found are replaced by their text."""
    if not found:
        return text[start:stop]
    parts = []
    for first, end, digits in found[bisect_left(found, (start,)) : bisect_left(found, (stop,))]:
        parts += [text[start:first], digits]
        start = end
    return "".join([*parts, text[start:stop]])


def _find_smaller(
    text: str, places: Sequence[int], characters: Characters
) -> list[tuple[int, int, int]]:
    """Return digits in smaller type: the start of their word, their start and their end."""
    numbers = [
        (word.start(), word.start() + number.start(), word.start() + number.end())
        for word in _WITH_DIGIT.finditer(text)
        if 1 < word.end() - word.start() <= MAX_WORD
        for number in _RAISED.finditer(word[0])
    ]
    befores = characters.sizes([places[max(first - 1, start)] for start, first, _ in numbers])
    lasts = characters.sizes([places[stop - 1] for _, _, stop in numbers])
    smaller = []
    for (start, first, stop), before, last in zip(numbers, befores, lasts, strict=True):
        if last >= SMALLER * before:
            continue
        sizes = characters.sizes(places[first:stop])
        while sizes[0] >= SMALLER * before:
            first, sizes = first + 1, sizes[1:]
        if first > start:
            smaller.append((start, first, stop))
    return smaller


def _write(before: str, digits: str, base: Box, raised: Box) -> str | None:
    _, base_top, _, base_bottom = base
    _, top, _, bottom = raised
    shift = SHIFT * (base_top - base_bottom)
    if bottom - base_bottom > shift:
        is_note = _NOTED.search(before) and not _FUNCTION.search(before)
        return f" [{digits}]" if is_note else f"^{digits}"
    if base_top - top > shift and before[-1].isdigit():
        return f"_{digits}"
    return None
