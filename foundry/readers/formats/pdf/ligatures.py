"""Recovers ligatures that a font does not identify, from the words that they complete.

Some PDFs have one glyph for `ffi`, and no characters for it, so `difficulties` would be read as
`diculties`.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from foundry.files import english_pieces
from foundry.readers.formats.pdf.lines import Line

UNNAMED = "\ufdd0"
"""Placeholder for a glyph without characters; it does not occur in text."""

MOST_UNKNOWN, LEAST_KNOWN = 3, 4
"""Maximum number of letters in a word's unknown ending, and minimum in its known beginning."""

_LIGATURES = ("fi", "ff", "fl", "ffi", "ffl")
_LETTERS = r"[^\W\d_]*"
_BROKEN = re.compile(f"{_LETTERS}(?:{UNNAMED}{_LETTERS})+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def name_ligatures(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Return the lines, with a ligature in place of each unnamed glyph that completes a word.

    Known words are those of the document and frequent English ones. Other glyphs inside words
    become U+FFFD; glyphs outside words, or in very short ones as in formulas, are left out.
    """
    lines = list(chain.from_iterable(pages))
    if not any(UNNAMED in line.text for line in lines):
        return [list(page) for page in pages]
    words = set(_WORD.findall("\n".join(line.text for line in lines)))
    own = set(map(str.casefold, words))

    def name(text: str) -> str:
        return _BROKEN.sub(lambda broken: _complete(broken[0], own), text)

    def mend(line: Line) -> Line:
        if UNNAMED not in line.text:
            return line
        rows = tuple(tuple(map(name, row)) for row in line.rows)
        return replace(line, text=name(line.text).strip(), rows=rows)

    named = [list(map(mend, page)) for page in pages]
    return [[line for line in page if line.text] for page in named]


def _complete(broken: str, own: Collection[str]) -> str:
    """Return the broken word, completed with the ligature that makes it the best-known word."""
    found = []
    for ligature in _LIGATURES:
        word = broken.replace(UNNAMED, ligature)
        place = word.rindex(ligature) + len(ligature)
        shortest = max(place, len(word) - MOST_UNKNOWN, LEAST_KNOWN)
        for end in (len(word), *range(len(word) - 1, shortest - 1, -1)):
            known = word[:end].casefold()
            rank = -1 if known in own else _frequent_words().get(known)
            if rank is not None:
                found.append((len(word) - end, rank, word))
                break
    letters = broken.replace(UNNAMED, "")
    if not letters or (not found and len(letters) < LEAST_KNOWN):
        return letters
    return min(found)[2] if found else broken.replace(UNNAMED, "\ufffd")


@cache
def _frequent_words() -> dict[str, int]:
    """Return the rank of each frequent English word, the most frequent first."""
    return {piece: rank for rank, piece in enumerate(english_pieces())}
