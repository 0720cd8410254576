"""Digits that are set higher or lower than the line: exponents, references to notes, indices.

As plain text, 10 with a raised 6 would be another number, and a name with the number of a note
another name.
"""

import re
from collections.abc import Iterator, Sequence

from foundry.readers.formats.pdf.characters import Box, Characters

SMALLER = 0.85
"""The greatest size of raised type, as a share of that of its line."""
SHIFT = 0.12
"""The least distance from the line, in heights of its type."""
MAX_WORD = 60

_WORD = re.compile(r"\S+")
_RAISED = re.compile(r"[-+\u2212\u2013]?\d+(?:,\d+)*")
_NOTED = re.compile(r"[^\W\d_]{3}\W*$|[.,;:!?'\"\u2019\u201c\u201d\xab\xbb]$")
_FUNCTION = re.compile(r"(?:sin|cos|tan|cot|sec|log|exp|det)h?$")


def mark_raised(text: str, places: Sequence[int], characters: Characters) -> str:
    """Return a line with `10^6`, `word [3]` and `1010_2` where digits are raised or lowered.

    `places` are those of its characters on the page. Indices of letters (H2O) stay.
    """
    parts, end = [], 0
    for word in _WORD.finditer(text):
        if not 1 < len(word[0]) <= MAX_WORD or not any(map(str.isdigit, word[0])):
            continue
        start, stop = word.span()
        for part, written in _find_raised(word[0], places[start:stop], characters):
            parts += [text[end : start + part.start], written]
            end = start + part.stop
    return "".join([*parts, text[end:]])


def _find_raised(
    word: str, places: Sequence[int], characters: Characters
) -> Iterator[tuple[slice, str]]:
    """Yield where digits are raised and lowered in a word, and what to write there."""
    size = characters.size
    for found in _RAISED.finditer(word):
        first, stop = found.span()
        large = SMALLER * size(places[max(first - 1, 0)])
        if size(places[stop - 1]) >= large:
            continue
        while size(places[first]) >= large:
            first += 1
        if first:
            base, raised = (characters.box(places[each]) for each in (first - 1, first))
            written = _write(word[:first], word[first:stop], base, raised)
            if written:
                yield slice(first, stop), written


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
