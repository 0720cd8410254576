"""Tables on a page of a PDF, from the places of its words and from its ruled lines.

A table that is ruled is the grid of its lines. Without rules, neighbouring rows make a table whose
words stand in columns with white space between them, if their cells are as short as those of tables
are: prose in columns is none. The places of cells decide, so what is empty stays empty.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean, median
from unicodedata import category

MAX_WORDS = 8_000
MAX_RULES = 4_000
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
NEAR = 3.0
"""Points within which lines are one, and meet."""

_DIGIT = re.compile(r"\d")
_SAID = re.compile(r"\w\w|^\d$")
_NAME = re.compile(r"[^\W\d_]{3}|[\u0e00-\uffff]")
_LETTER = re.compile(r"[^\W\d_]")


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


def find_tables(words: Sequence[Word], rules: Sequence[Rule]) -> list[Table]:
    """Return a page's tables; none of them shares a line with another."""
    if not 4 <= len(words) <= MAX_WORDS:
        return []
    tables: list[Table] = []
    for grid in _find_grids(rules[:MAX_RULES]):
        table = _fill_grid(grid, [word for word in words if grid.holds(word)])
        if table and all(table.lines.isdisjoint(other.lines) for other in tables):
            tables.append(table)
    taken = frozenset[int]().union(*(table.lines for table in tables))
    rows = _find_rows([word for word in words if word.line not in taken])
    for run in _find_runs(rows):
        whole = _align(run)
        tables += [whole] if whole else _align_parts(run)
    return [_without_shared_lines(table, words) for table in tables]


def _parts(words: Iterable[Word]) -> tuple[frozenset[Word], frozenset[int]]:
    within = frozenset(words)
    return within, frozenset(word.line for word in within)


def _without_shared_lines(table: Table, words: Iterable[Word]) -> Table:
    """Return the table without the lines that go on beside it, which are rather said twice."""
    shared = {word.line for word in words if word not in table.words}
    return replace(table, lines=table.lines - shared)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Columns begin and end at `xs`, rows at `ys`; `rules` are the vertical lines."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    rules: tuple[Rule, ...]

    def holds(self, word: Word) -> bool:
        x, y = _centre(word)
        return self.xs[0] - NEAR <= x <= self.xs[-1] + NEAR and self.ys[0] <= y <= self.ys[-1]

    def columns(self, row: int) -> list[int]:
        """Return which columns begin in a row: those that a line sets off there."""
        y = (self.ys[row] + self.ys[row + 1]) / 2
        lines = [rule.left for rule in self.rules if rule.top - NEAR <= y <= rule.bottom + NEAR]
        begun = {bisect_right(self.xs, x + NEAR) - 1 for x in lines}
        return sorted({0, *begun} - {len(self.xs) - 1})


def _centre(word: Word) -> tuple[float, float]:
    return (word.left + word.right) / 2, (word.top + word.bottom) / 2


def _find_grids(rules: Sequence[Rule]) -> list[_Grid]:
    """Return the grids that lines which touch each other make."""
    upright = sorted((rule for rule in rules if rule.is_vertical), key=lambda rule: rule.left)
    level = sorted((rule for rule in rules if not rule.is_vertical), key=lambda rule: rule.top)
    groups = list(range(len(upright) + len(level)))

    def find(place: int) -> int:
        while groups[place] != place:
            groups[place] = groups[groups[place]]
            place = groups[place]
        return place

    lefts = [rule.left for rule in upright]
    for number, rule in enumerate(level, len(upright)):
        first = bisect_right(lefts, rule.left - NEAR)
        last = bisect_right(lefts, rule.right + NEAR)
        for place in range(first, last):
            other = upright[place]
            if other.top - NEAR <= rule.top <= other.bottom + NEAR:
                groups[find(place)] = find(number)
    members: dict[int, list[Rule]] = {}
    for place, rule in enumerate([*upright, *level]):
        members.setdefault(find(place), []).append(rule)
    grids = []
    for group in members.values():
        own = tuple(rule for rule in group if rule.is_vertical)
        xs = _unite(rule.left for rule in own)
        ys = _unite(rule.top for rule in group if not rule.is_vertical)
        if 3 <= len(xs) <= MAX_COLUMNS + 1 and len(ys) >= 3:
            grids.append(_Grid(xs, ys, own))
    return grids


def _unite(places: Iterable[float]) -> tuple[float, ...]:
    united: list[float] = []
    for place in sorted(places):
        if not united or place - united[-1] > NEAR:
            united.append(place)
    return tuple(united)


def _fill_grid(grid: _Grid, words: Sequence[Word]) -> Table | None:
    cells: dict[tuple[int, int], list[Word]] = {}
    begun = [grid.columns(row) for row in range(len(grid.ys) - 1)]
    for word in words:
        x, y = _centre(word)
        row = min(max(bisect_right(grid.ys, y) - 1, 0), len(begun) - 1)
        column = max(bisect_right(grid.xs, x) - 1, 0)
        place = max(bisect_right(begun[row], column) - 1, 0)
        cells.setdefault((row, begun[row][place]), []).append(word)
    columns = sorted({column for _, column in cells})
    rows = sorted({row for row, _ in cells})
    if len(columns) < 2 or any(
        _is_layout([cells.get((row, c), []) for c in columns]) for row in rows
    ):
        return None
    written = [tuple(_join(cells.get((row, column), ())) for column in columns) for row in rows]
    # A frame around text and a few lines in it are no table.
    is_prose = len(words) > 30 * len(cells) or _is_formula(
        [cell for row in written for cell in row]
    )
    if is_prose or sum(1 for row in written if sum(map(bool, row)) > 1) < 2:
        return None
    return Table(tuple(written), *_parts(words))


def _is_layout(cells: Sequence[Sequence[Word]]) -> bool:
    """Return whether a row of a grid has rows inside it: a form's fields, set side by side."""
    counts = [_count_lines(words) for words in cells if words]
    labels = next((words for words in cells if words), ())
    return sum(count > 2 for count in counts) > 1 and counts[0] > 2 and len(labels) <= 3 * counts[0]


def _count_lines(words: Sequence[Word]) -> int:
    tops = sorted(word.top for word in words)
    height = median(word.bottom - word.top for word in words)
    return 1 + sum(1 for before, top in pairwise(tops) if top - before > 0.5 * height)


def _join(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in sorted(words, key=lambda word: (word.line, word.left)))


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
    for word in sorted(words, key=lambda word: (sum(_centre(word)[1:]), word.left)):
        middle = _centre(word)[1]
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
    return Table(tuple(map(tuple, written)), *_parts(words))


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row if cell]
    if len(rows) < 2:
        return False
    filled = [sum(map(bool, row)) for row in rows if sum(map(bool, row)) > 1 or len(rows) < 4]
    if mean(len(cell.split()) for cell in cells) > CELL_WORDS or _is_formula(cells):
        return False
    if len(rows[0]) == 2:
        # Label and value stand in a line anyway; only a header makes them a table.
        numbers = [bool(_DIGIT.search(row[1])) for row in rows[1:]]
        header = all(_LETTER.search(cell) and not _DIGIT.search(cell) for cell in rows[0])
        return len(rows) > 2 and header and mean(numbers) > 0.6
    if _is_contents(rows) or (len(rows) < FEW_ROWS and max(filled) < len(rows[0])):
        return False
    return mean(filled) >= max(2, 0.4 * len(rows[0]))


def _is_formula(cells: Sequence[str]) -> bool:
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


def _is_contents(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the rows are a table of contents: they end with numbers of pages."""
    pages = [int(row[-1]) for row in rows if row[-1].isdecimal() and len(row[-1]) < 7]
    return len(pages) == len(rows) and pages == sorted(pages)
