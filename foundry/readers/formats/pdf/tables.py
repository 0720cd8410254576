"""Finds tables on a PDF page by the positions of words and by ruled lines.

A ruled table is the grid of its lines. Words outside grids form tables if they are in columns with
white space between them. Cells are placed by position, so empty cells stay empty.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import fmean, median
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from foundry.readers.formats.office.merging import Merged, unmerge
from foundry.readers.formats.pdf.rows import Row, Word, find_rows
from foundry.readers.formats.pdf.rules import MIN_RULES, NEAR, NO_RULES, Rules, touching

MIN_WORDS, MAX_WORDS = 4, 8_000
MAX_RULES = 4_000
MAX_COLUMNS = 60
ROW_GAP = 2.2
"""Maximum gap between two rows, in row heights."""
LINE_GAP = 0.8
"""Maximum gap between a row and a line that belongs to it, in row heights."""
CELL_WORDS = 4.5
"""Cells with more words on average are prose."""
FEW_ROWS = 6
"""A table with fewer rows must have a row that fills every column."""
MAX_PROSE_LINES = 5

_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_SAID = re.compile(r"\w\w|^\d$")
_OF_NUMBERS = "\u2212\u00b1\u2264\u2265\u00d7"
_NAME = re.compile(r"[^\W\d_]{3}|[\u0e00-\uffff]")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of equal length, and the page's lines that are entirely inside."""

    rows: tuple[tuple[str, ...], ...]
    lines: frozenset[int]


_Found = tuple[list[list[str]], list[Word]]
"""The rows of a table, and the words in them."""


def find_tables(
    words: Sequence[Word], rules: Rules = NO_RULES, rows: Sequence[Row] = ()
) -> list[Table]:
    """Return a page's tables; no two of them share a line.

    `rows` are the rows of all words, if already known.
    """
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return []
    found: list[_Found] = []
    taken: set[int] = set()
    groups = list(touching(rules[:MAX_RULES]))
    middles = np.array([((w.left + w.right) / 2, w.middle) for w in words] if groups else [])
    for group in groups:
        table = _read_grid(*group, words, middles)
        if table and taken.isdisjoint(word.line for word in table[1]):
            found.append(table)
            taken.update(word.line for word in table[1])
    if taken or not rows:
        rows = find_rows([word for word in words if word.line not in taken])
    for run in _find_runs(rows):
        # A line of prose above a table may have a gap too.
        parts = (run[first:] for first in range(min(len(run) - 1, MAX_PROSE_LINES)))
        found += islice(filter(None, map(_align, parts)), 1)
    tables = []
    for cells, inside in found:
        # A line of which only a part is in the table is repeated rather than lost.
        members = set(inside)
        shared = {word.line for word in words if word not in members}
        lines = frozenset(word.line for word in inside) - shared
        tables.append(Table(tuple(map(tuple, cells)), lines))
    return tables


def _read_grid(
    upright: Rules, level: Rules, words: Sequence[Word], middles: NDArray[np.float64]
) -> _Found | None:
    """Return the table in a grid of lines; None for a form, a frame or a plot.

    `middles` has the middle of each word.
    """
    lefts, _, tops, bottoms = upright.T
    xs, ys = _unite(lefts.tolist()), _unite(level[:, 2].tolist())
    if not (MIN_RULES <= len(xs) <= MAX_COLUMNS + 1 and len(ys) >= MIN_RULES):
        return None
    # For each row, the columns at which a cell starts.
    begun: list[list[int]] = []
    columns_of = np.searchsorted(xs, lefts + NEAR, "right") - 1
    for y in ((above + below) / 2 for above, below in pairwise(ys)):
        lines = columns_of[(tops - NEAR <= y) & (y <= bottoms + NEAR)]
        begun.append(sorted({0, *lines.tolist()} - {len(xs) - 1}))
    cells: dict[tuple[int, int], list[Word]] = {}
    x, y = middles.T
    is_inside = (xs[0] - NEAR <= x) & (x <= xs[-1] + NEAR) & (ys[0] <= y) & (y <= ys[-1])
    inside = [words[number] for number in np.flatnonzero(is_inside).tolist()]
    for word, (x, y) in zip(inside, middles[is_inside].tolist(), strict=True):
        row = min(bisect_right(ys, y) - 1, len(begun) - 1)
        column = max(bisect_right(xs, x) - 1, 0)
        place = max(bisect_right(begun[row], column) - 1, 0)
        cells.setdefault((row, begun[row][place]), []).append(word)
    columns = sorted({column for _, column in cells})
    rows = [
        [cells.get((row, column), []) for column in columns]
        for row in sorted({r for r, _ in cells})
    ]
    if len(columns) < 2 or any(map(_is_layout, rows)):
        return None
    written = [[_text(sorted(cell, key=lambda w: (w.line, w.left))) for cell in r] for r in rows]
    # A few ruled lines around prose are a frame, not a table.
    is_prose = len(inside) > 30 * len(cells) or _is_formula([c for row in written for c in row])
    if is_prose or sum(1 for row in written if sum(map(bool, row)) > 1) < 2:
        return None
    numbers = sorted({row for row, _ in cells})
    ends = [[*starts[1:], len(xs) - 1] for starts in begun]
    merged: list[Merged] = []
    for row, column in cells:
        end = ends[row][begun[row].index(column)]
        across = range(columns.index(column), bisect_left(columns, end))
        down = _rows_of(row, (xs[column], xs[end]), ys, level)
        if all((other, column) not in cells for other in down if other != row):
            lines = [place for place, number in enumerate(numbers) if number in down]
            if len(lines) > 1 or 1 < len(across) < len(columns):
                first = lines[0]
                written[first][across[0]] = written[numbers.index(row)][across[0]]
                merged.append((range(first, lines[-1] + 1), across))
    return unmerge(written, merged), inside


def _rows_of(row: int, sides: tuple[float, float], ys: Sequence[float], level: Rules) -> range:
    """Return the rows that a cell covers: no rule separates them between the cell's sides."""
    middle = (sides[0] + sides[1]) / 2
    crossed = level[(level[:, 0] <= middle) & (middle <= level[:, 1])][:, 2].tolist()
    is_ruled = [any(abs(y - other) <= NEAR for other in crossed) for y in ys]
    first = max((place for place in range(row + 1) if is_ruled[place]), default=0)
    last = next((place for place in range(row + 1, len(ys)) if is_ruled[place]), len(ys) - 1)
    return range(first, last)


def _unite(places: Sequence[float]) -> list[float]:
    united: list[float] = []
    for place in sorted(places):
        if not united or place - united[-1] > NEAR:
            united.append(place)
    return united


def _is_layout(row: Sequence[Sequence[Word]]) -> bool:
    """Return whether cells of a grid row hold several lines each, like form fields."""
    filled = [cell for cell in row if cell]
    counts = []
    for cell in filled:
        tops = sorted(word.top for word in cell)
        height = median(word.bottom - word.top for word in cell)
        counts.append(1 + sum(below - above > 0.5 * height for above, below in pairwise(tops)))
    is_side_by_side = sum(count > 2 for count in counts) > 1
    return is_side_by_side and counts[0] > 2 and len(filled[0]) <= 3 * counts[0]


def _find_runs(rows: Sequence[Row]) -> list[list[Row]]:
    """Return groups of consecutive rows that have several cells."""
    runs: list[list[Row]] = [[]]
    for row in rows:
        run = runs[-1]
        distance = (row.top - run[-1].bottom) / (row.bottom - row.top) if run else 0.0
        if len(row.cells) > 1:
            if distance > ROW_GAP:
                runs.append([])
            runs[-1].append(row)
        elif run and 0 <= distance < LINE_GAP and _goes_on(row, run[-1]):
            run.append(row)
        elif distance >= -0.2:
            # Text printed over a table does not end it.
            runs.append([])
    return [run for run in runs if sum(len(row.cells) > 1 for row in run) > 1]


def _goes_on(row: Row, above: Row) -> bool:
    """Return whether a row of one cell continues a cell, other than the first, of the row above."""
    cells = above.cells[len(above.cells) > 1 :]
    return any(abs(row.cells[0][0].left - cell[0].left) < NEAR for cell in cells)


def _align(run: Sequence[Row]) -> _Found | None:
    """Return the table of a group of rows, if their cells form columns."""
    cells = [cell for row in run for cell in row.cells]
    if sum(map(len, cells)) > CELL_WORDS * len(cells):
        return None
    cells = [cell for row in run if len(row.cells) > 1 for cell in row.cells]
    if len(cells) < 4 or len(run[0].cells) < 2:
        return None
    extent = max(cell[-1].right for cell in cells) - min(cell[0].left for cell in cells)
    columns: list[list[float]] = []
    for left, right in sorted((cell[0].left, cell[-1].right) for cell in cells):
        if right - left > 0.5 * extent:
            return None
        if columns and left <= columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], right)
        else:
            columns.append([left, right])
    if not 2 <= len(columns) <= MAX_COLUMNS:
        return None
    starts = [column[0] for column in columns]
    rows: list[list[str]] = []
    for row in run:
        if len(row.cells) > 1:
            rows.append([""] * len(columns))
        for cell in row.cells:
            place = max(bisect_right(starts, cell[0].left + NEAR) - 1, 0)
            rows[-1][place] = f"{rows[-1][place]} {_text(cell)}".strip()
    return (
        (rows, [w for row in run for cell in row.cells for w in cell]) if _is_table(rows) else None
    )


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether cells in columns are a table, not prose, a formula or a table of contents."""
    cells = [cell for row in rows for cell in row if cell]
    if len(rows) < 2 or _is_formula(cells):
        return False
    if sum(map(len, map(str.split, cells))) > CELL_WORDS * len(cells):
        return False
    if len(rows[0]) == 2:
        # A label and its value are on one line anyway, so only a header makes them a table.
        numbers = [bool(_DIGIT.search(row[1])) for row in rows[1:]]
        header = all(_LETTER.search(cell) and not _DIGIT.search(cell) for cell in rows[0])
        return len(rows) > 2 and header and fmean(numbers) > 0.6
    pages = [int(row[-1]) for row in rows if row[-1].isdecimal() and len(row[-1]) < 7]
    is_contents = len(pages) == len(rows) and pages == sorted(pages)
    counts = [sum(map(bool, row)) for row in rows]
    filled = [count for count in counts if count > 1 or len(rows) < 4]
    if is_contents or (len(rows) < FEW_ROWS and max(filled) < len(rows[0])):
        return False
    return fmean(filled) >= max(2, 0.4 * len(rows[0]))


def _is_formula(cells: Sequence[str]) -> bool:
    """Return whether cells belong to a formula or a plot: few words, or mathematical signs."""
    cells = [cell for cell in cells if cell]
    if sum(map(bool, map(_NAME.search, cells))) < 2:
        return True
    if 2 * sum(map(bool, map(_SAID.search, cells))) < len(cells):
        return True
    signs = sum(
        any(category(sign) in {"Sm", "Co"} and sign not in _OF_NUMBERS for sign in cell)
        for cell in cells
        if not cell.isascii()
    )
    return 7 * signs > len(cells)


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
