"""Tables without rules: rows whose words stand in columns, with white space between them.

Cells of tables are short, and prose in columns is not; tables of contents and formulas are none.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean, median

from foundry.readers.formats.pdf_cells import NEAR, Table, Word, centre, is_formula, parts_of

MAX_COLUMNS = 60
GAP = 0.8
"""White space between cells, in sizes of the type; justified prose has less between words."""
ROW_GAP = 2.2
"""How far the next row may be, from bottom to top, in heights of a row."""
CELL_WORDS = 4.5
"""More words in a cell, on the average, are prose."""
FEW_ROWS = 6
"""With fewer rows, one of them fills every column."""
MAX_PROSE_LINES = 5

_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")


def find_columns(words: Sequence[Word]) -> list[Table]:
    """Return the tables of a page's words."""
    tables = []
    for run in _find_runs(_find_rows(words)):
        whole = _align(run)
        tables += [whole] if whole else _align_parts(run)
    return tables


@dataclass(frozen=True, slots=True)
class _Cell:
    words: tuple[Word, ...]

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return self.words[-1].right

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[_Cell, ...]
    top: float
    bottom: float
    is_label: bool = False


def _find_rows(words: Sequence[Word]) -> list[_Row]:
    """Return what stands side by side, from top to bottom, as cells with white space between."""
    bands: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (sum(centre(word)[1:]), word.left)):
        middle = centre(word)[1]
        if bands and bands[-1][0].top < middle < bands[-1][0].bottom:
            bands[-1].append(word)
        else:
            bands.append([word])
    rows = []
    for band in bands:
        band.sort(key=lambda word: word.left)
        height = median(word.bottom - word.top for word in band)
        cells = [[band[0]]]
        for before, word in pairwise(band):
            if word.left - before.right > GAP * height:
                cells.append([])
            cells[-1].append(word)
        top, bottom = min(word.top for word in band), max(word.bottom for word in band)
        rows.append(_Row(tuple(_Cell(tuple(cell)) for cell in cells), top, bottom))
    return rows


def _find_runs(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Return rows that follow each other and have several cells."""
    runs: list[list[_Row]] = [[]]
    for row in rows:
        last = runs[-1][-1] if runs[-1] else None
        distance = (row.top - last.bottom) / (row.bottom - row.top) if last else 0.0
        if len(row.cells) > 1:
            if distance > ROW_GAP:
                runs.append([])
            runs[-1].append(row)
        elif last and _continues(row, last, distance):
            runs[-1].append(row)
        elif last and 0 <= distance < 0.8 and _is_label(row, runs[-1]):
            runs[-1].append(replace(row, is_label=True))
        elif distance >= -0.2:
            # What is printed over a table does not end it.
            runs.append([])
    for run in runs:
        while run and run[-1].is_label:
            run.pop()
    return [run for run in runs if sum(len(row.cells) > 1 for row in run) > 1]


def _is_label(row: _Row, run: Sequence[_Row]) -> bool:
    """Return whether a row of one cell names the rows below it, in their first column."""
    cell = row.cells[0]
    starts = [each.cells[0].left for each in run if len(each.cells) > 1]
    return len(cell.words) <= CELL_WORDS and any(abs(cell.left - left) < NEAR for left in starts)


def _align_parts(run: Sequence[_Row]) -> list[Table]:
    """Return the tables in a run that is none as a whole."""
    labels = [place for place, row in enumerate(run) if len(row.cells) == 1 and row.is_label]
    found = []
    for start, end in pairwise([0, *(place + 1 for place in labels), len(run) + 1]):
        # A line of prose above a table may have a gap too.
        for first in range(start, min(end - 2, start + MAX_PROSE_LINES)):
            table = _align(run[first : end - 1])
            if table:
                found.append(table)
                break
    return found


def _continues(row: _Row, above: _Row, distance: float) -> bool:
    """Return whether a row of one cell goes on with a cell of the row above, not its first."""
    starts = [cell.left for cell in above.cells[len(above.cells) > 1 :]]
    return 0 <= distance < 0.8 and any(abs(row.cells[0].left - left) < NEAR for left in starts)


def _align(run: Sequence[_Row]) -> Table | None:
    """Return the table of a run of rows, if their cells stand in columns."""
    whole = [row for row in run if len(row.cells) > 1]
    if len(whole) < 2 or len(run[0].cells) < 2:
        return None
    extent = max(row.cells[-1].right for row in whole) - min(row.cells[0].left for row in whole)
    columns: list[list[float]] = []
    cells = [cell for row in whole for cell in row.cells]
    for cell in sorted(cells, key=lambda cell: cell.left):
        if cell.right - cell.left > 0.5 * extent:
            return None
        if columns and cell.left <= columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], cell.right)
        else:
            columns.append([cell.left, cell.right])
    if not 2 <= len(columns) <= MAX_COLUMNS:
        return None
    starts = [column[0] for column in columns]
    written: list[list[str]] = []
    for row in run:
        if len(row.cells) > 1 or row.is_label:
            written.append([""] * len(columns))
        for cell in row.cells:
            place = max(bisect_right(starts, cell.left + NEAR) - 1, 0)
            written[-1][place] = f"{written[-1][place]} {cell.text}".strip()
    if not _is_table(written):
        return None
    words = [word for row in run for cell in row.cells for word in cell.words]
    return Table(tuple(map(tuple, written)), *parts_of(words))


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row if cell]
    if len(rows) < 2:
        return False
    filled = [sum(map(bool, row)) for row in rows if sum(map(bool, row)) > 1 or len(rows) < 4]
    if mean(len(cell.split()) for cell in cells) > CELL_WORDS or is_formula(cells):
        return False
    if len(rows[0]) == 2:
        # Label and value stand in a line anyway; only a header makes them a table.
        numbers = [bool(_DIGIT.search(row[1])) for row in rows[1:]]
        header = all(_LETTER.search(cell) and not _DIGIT.search(cell) for cell in rows[0])
        return len(rows) > 2 and header and mean(numbers) > 0.6
    if _is_contents(rows) or (len(rows) < FEW_ROWS and max(filled) < len(rows[0])):
        return False
    return mean(filled) >= max(2, 0.4 * len(rows[0]))


def _is_contents(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the rows are a table of contents: they end with numbers of pages."""
    pages = [int(row[-1]) for row in rows if row[-1].isdecimal() and len(row[-1]) < 7]
    return len(pages) == len(rows) and pages == sorted(pages)
