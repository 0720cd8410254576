"""The words of a PDF page, and the rows that they form side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter, sub
from statistics import median

GAP = 0.8
"""Minimum white space between cells, relative to the height of the type; justified prose has less
between words.
"""

_left = attrgetter("left")


@dataclass(slots=True, eq=False)
class Word:
    """A word, its box in points from the left and the top of the page, and its line's number."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    line: int

    @property
    def middle(self) -> float:
        """The distance of the word's middle from the top."""
        return (self.top + self.bottom) / 2


@dataclass(slots=True)
class Row:
    """Words side by side, as cells with white space between them."""

    cells: list[list[Word]]
    top: float
    bottom: float


def find_rows(words: Sequence[Word]) -> list[Row]:
    """Return the rows of a page from top to bottom."""
    bands: list[list[Word]] = []
    above = below = -inf
    band: list[Word] = []
    places = [((w.top + w.bottom) / 2, w.left, number, w) for number, w in enumerate(words)]
    for middle, _, _, word in sorted(places):
        if above < middle < below:
            band.append(word)
        else:
            band = [word]
            bands.append(band)
            above, below = word.top, word.bottom
    return list(map(_row, bands))


def _row(band: list[Word]) -> Row:
    if len(band) == 1:
        return Row([band], band[0].top, band[0].bottom)
    band.sort(key=_left)
    tops, bottoms = [word.top for word in band], [word.bottom for word in band]
    gap = GAP * median(map(sub, bottoms, tops))
    cells: list[list[Word]] = []
    end = -inf
    for word in band:
        if word.left - end > gap:
            cell = [word]
            cells.append(cell)
        else:
            cell.append(word)
        end = word.right
    return Row(cells, min(tops), max(bottoms))
