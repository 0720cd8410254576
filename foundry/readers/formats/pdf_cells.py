"""What tables of a PDF's page are found from, and made of: words and lines in their places."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import category

NEAR = 3.0
"""Points within which lines are one, and meet."""

_SAID = re.compile(r"\w\w|^\d$")
_NAME = re.compile(r"[^\W\d_]{3}|[\u0e00-\uffff]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its box, in points from the left and the top of the page."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    line: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal or vertical line."""

    left: float
    right: float
    top: float
    bottom: float

    @property
    def is_vertical(self) -> bool:
        """Whether it goes down."""
        return self.bottom - self.top > self.right - self.left


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of equally many cells, the words in them, and the page's lines that are in it whole."""

    rows: tuple[tuple[str, ...], ...]
    words: frozenset[Word]
    lines: frozenset[int]


def centre(word: Word) -> tuple[float, float]:
    """Return a word's place."""
    return (word.left + word.right) / 2, (word.top + word.bottom) / 2


def parts_of(words: Iterable[Word]) -> tuple[frozenset[Word], frozenset[int]]:
    """Return the words of a table, and the lines that they are of."""
    within = frozenset(words)
    return within, frozenset(word.line for word in within)


def is_formula(cells: Sequence[str]) -> bool:
    """Return whether cells are a formula's or a plot's: hardly a word, or signs of mathematics."""
    cells = [cell for cell in cells if cell]
    words = sum(1 for cell in cells if _SAID.search(cell))
    names = sum(1 for cell in cells if _NAME.search(cell))
    return names < 2 or 2 * words < len(cells) or 7 * sum(map(_has_signs, cells)) > len(cells)


def _has_signs(cell: str) -> bool:
    return not cell.isascii() and any(
        category(sign) in {"Sm", "Co"} and sign not in "\u2212\u00b1\u2264\u2265\u00d7"
        for sign in cell
    )
