"""Digits set higher or lower than the line: exponents, note references, indices.

In plain text, 10 with a superscript 6 would become another number, and a name with a note's number
another name.
"""

import re
from collections.abc import Iterator, Sequence

from foundry.readers.formats.pdf.characters import Box, Characters

SMALLER = 0.85
"""Maximum size of superscript type, relative to its line."""
SHIFT = 0.12
"""Minimum distance from the baseline, in type heights."""
MAX_WORD = 60

_WITH_DIGIT = re.compile(r"(?<!\S)[^\s\d]*\d\S*")
_RAISED = re.compile(r"[-+\u2212\u2013]?\d+(?:,\d+)*")
_NOTED = re.compile(r"[^\W\d_]{3}\W*$|[.,;:!?'\"\u2019\u201c\u201d\xab\xbb]$")
_FUNCTION = re.compile(r"(?:sin|cos|tan|cot|sec|log|exp|det)h?$")


def mark_raised(text: str, places: Sequence[int], characters: Characters) -> Sequence[str]:
    """Return the text for each character: `10^6`, `word [3]` and `1010_2` for raised digits.

    `places` are the positions of the characters on the page. Indices of letters (H2O) stay.
    """
    written: Sequence[str] = text
    for word in _WITH_DIGIT.finditer(text):
        start, stop = word.span()
        if not 1 < stop - start <= MAX_WORD:
            continue
        for part, digits in _find_raised(word[0], places[start:stop], characters):
            if not isinstance(written, list):
                written = list(text)
            first, last = start + part.start, start + part.stop
            written[first:last] = [digits, *[""] * (last - first - 1)]
    return written


def _find_raised(
    word: str, places: Sequence[int], characters: Characters
) -> Iterator[tuple[slice, str]]:
    """Yield the ranges of raised and lowered digits in a word, and the text for each."""
    size = characters.size
    for found in _RAISED.finditer(word):
        first, stop = found.span()
        large = SMALLER * size(places[max(first - 1, 0)])
        if size(places[stop - 1]) >= large:
            continue
        while size(places[first]) >= large:
            first += 1
        if first:
            base, raised = characters.box(places[first - 1]), characters.box(places[first])
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
