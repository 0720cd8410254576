"""Ruled tables: the grids of lines that meet, and what stands in their cells."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from foundry.readers.formats.pdf_cells import NEAR, Rule, Table, Word, centre, is_formula, parts_of

MAX_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns begin and end at `xs`, rows at `ys`; `rules` are the vertical lines."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    rules: tuple[Rule, ...]

    def holds(self, word: Word) -> bool:
        """Return whether a word stands in it."""
        x, y = centre(word)
        return self.xs[0] - NEAR <= x <= self.xs[-1] + NEAR and self.ys[0] <= y <= self.ys[-1]

    def columns(self, row: int) -> list[int]:
        """Return which columns begin in a row: those that a line sets off there."""
        y = (self.ys[row] + self.ys[row + 1]) / 2
        lines = [rule.left for rule in self.rules if rule.top - NEAR <= y <= rule.bottom + NEAR]
        begun = {bisect_right(self.xs, x + NEAR) - 1 for x in lines}
        return sorted({0, *begun} - {len(self.xs) - 1})


def find_grids(rules: Sequence[Rule]) -> list[Grid]:
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
            grids.append(Grid(xs, ys, own))
    return grids


def _unite(places: Iterable[float]) -> tuple[float, ...]:
    united: list[float] = []
    for place in sorted(places):
        if not united or place - united[-1] > NEAR:
            united.append(place)
    return tuple(united)


def fill_grid(grid: Grid, words: Sequence[Word]) -> Table | None:
    """Return the table of the words in a grid; None for a form, a frame or a plot."""
    cells: dict[tuple[int, int], list[Word]] = {}
    begun = [grid.columns(row) for row in range(len(grid.ys) - 1)]
    for word in words:
        x, y = centre(word)
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
    is_prose = len(words) > 30 * len(cells) or is_formula([cell for row in written for cell in row])
    if is_prose or sum(1 for row in written if sum(map(bool, row)) > 1) < 2:
        return None
    return Table(tuple(written), *parts_of(words))


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
