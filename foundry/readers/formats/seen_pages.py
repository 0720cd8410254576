"""A page that was read from a picture: its lines and tables, as those of a PDF's page."""

from collections.abc import Sequence

from foundry.readers.formats.pdf_cells import Word
from foundry.readers.formats.pdf_layout import Line, put_in_tables
from foundry.readers.formats.pdf_tables import find_tables
from foundry.readers.recognition import UNSURE, SeenLine

POINTS = 1_000
"""The width and height that a page is given."""


class SeenPage:
    """Lines of a picture in the order in which they are read; `unsure` counts doubtful ones."""

    def __init__(self, seen: Sequence[SeenLine]) -> None:
        self.unsure = sum(1 for line in seen if line.confidence < UNSURE)
        ordered = sorted(seen, key=lambda line: (line.top + line.bottom, line.left))
        rows: list[list[SeenLine]] = []
        for line in ordered:
            middle = (line.top + line.bottom) / 2
            if rows and rows[-1][0].top < middle < rows[-1][0].bottom:
                rows[-1].append(line)
            else:
                rows.append([line])
        in_order = [line for row in rows for line in sorted(row, key=lambda each: each.left)]
        words = [_word(line, number) for number, line in enumerate(in_order)]
        tables = find_tables(words, [])
        self.lines = put_in_tables([_line(line) for line in in_order], tables)


def _word(seen: SeenLine, number: int) -> Word:
    left, right = POINTS * seen.left, POINTS * seen.right
    return Word(seen.text, left, right, POINTS * seen.top, POINTS * seen.bottom, number)


def _line(seen: SeenLine) -> Line:
    # Boxes of one type differ by some pixels, and no heading is known by less than its size.
    return Line(text=seen.text, size=0.0, top=seen.top, bottom=seen.bottom)
