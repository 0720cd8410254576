"""The reading order of shapes: from top to bottom, and from left to right if side by side."""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

NEAR = 73_152
"""Shapes whose tops differ by at most this, 0.08 inch in EMU, are side by side."""

Place = tuple[int, int]
"""Distance from the top and from the left, in EMU."""


def by_rows(placed: Sequence[tuple[Place, Element]]) -> Iterator[Element]:
    """Yield the shapes in reading order."""
    row: list[tuple[int, Element]] = []
    first = 0
    for (top, left), shape in sorted(placed, key=lambda each: each[0]):
        if row and top - first > NEAR:
            yield from (each for _, each in sorted(row, key=lambda each: each[0]))
            row = []
        first = top if not row else first
        row.append((left, shape))
    yield from (each for _, each in sorted(row, key=lambda each: each[0]))
