"""Reorders columns of prose that a program has drawn row by row.

PDFium reads a page in drawing order, so it sees a row of two columns as one line. White space that
no word crosses, next to rows of prose, is the gutter between the columns.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from statistics import fmean, median

from foundry.readers.formats.pdf.rows import Row, Word, find_rows

MIN_ROWS = 3
"""Minimum number of rows on both sides of a gutter."""
MIN_CELL_WORDS = 3.5
"""If one side has fewer words on average, it is not prose."""
NEAR = 3.0
"""Beginnings of lines within this many points count as aligned."""
ROW_GAP = 2.2
"""Maximum gap between two rows of a column, in row heights."""
MIN_WIDTH = 0.45
"""Share of the left column's width that half of its lines must fill; labels are shorter."""
MAX_COLUMNS = 4

Part = tuple[int, list[Word]]
"""A part of a line, and the number of the line."""


def split_columns(words: Sequence[Word], rows: Sequence[Row], depth: int = 1) -> list[list[Part]]:
    """Return, for each region with columns, the parts of its lines in reading order.

    A line is in at most one region, with all its words. Lines outside columns of prose are in none.
    """
    regions = []
    taken: set[int] = set()
    for gutter in _gutters(rows):
        for run in _runs(rows, gutter):
            inside = [word for row in run for cell in row.cells for word in cell]
            lines = {word.line for word in inside}
            whole = [word for word in words if word.line in lines]
            if taken.isdisjoint(lines) and len(whole) == len(inside):
                taken |= lines
                left = [word for word in inside if word.left < gutter - NEAR]
                right = [word for word in inside if word.left >= gutter - NEAR]
                regions.append([*_read(left, depth), *_read(right, depth)])
    return regions


def _read(words: Sequence[Word], depth: int) -> Iterator[Part]:
    """Yield the parts of lines in a column, which may itself have columns."""
    inner = split_columns(words, find_rows(words), depth + 1) if depth < MAX_COLUMNS - 1 else []
    firsts = {region[0][0]: region for region in inner}
    inside = {line for region in inner for line, _ in region}
    lines: dict[int, list[Word]] = {}
    for word in sorted(words, key=lambda word: word.line):
        lines.setdefault(word.line, []).append(word)
    for line, found in lines.items():
        if line in firsts:
            yield from firsts[line]
        elif line not in inside:
            yield line, sorted(found, key=lambda word: word.left)


def _gutters(rows: Sequence[Row]) -> list[float]:
    """Return where cells other than the first of a row begin, the most frequent position first."""
    starts = sorted(cell[0].left for row in rows for cell in row.cells[1:])
    groups: list[list[float]] = []
    for start in starts:
        if groups and start - groups[-1][0] <= NEAR:
            groups[-1].append(start)
        else:
            groups.append([start])
    many = [group for group in groups if len(group) >= MIN_ROWS]
    return [group[0] for group in sorted(many, key=lambda group: (-len(group), group[0]))]


def _runs(rows: Sequence[Row], gutter: float) -> Iterator[list[Row]]:
    """Yield groups of rows that leave a gutter free and have prose on both sides of it."""
    run: list[Row] = []
    for row, below in zip_longest(rows, rows[1:]):
        is_crossed = _crosses(row, gutter)
        if not is_crossed:
            run.append(row)
        gap = ROW_GAP * (row.bottom - row.top)
        if run and (is_crossed or below is None or below.top - row.bottom > gap):
            if _is_prose(run, gutter):
                yield run
            run = []


def _crosses(row: Row, gutter: float) -> bool:
    """Return whether a cell crosses the gutter."""
    return any(cell[0].left < gutter - NEAR < cell[-1].right for cell in row.cells)


def _is_prose(run: Sequence[Row], gutter: float) -> bool:
    """Return whether both sides of a gutter are prose, and the left column is filled."""
    rows = [row for row in run if len(row.cells) > 1]
    if len(rows) < MIN_ROWS:
        return False
    both: list[tuple[int, int]] = []
    ends: list[float] = []
    for row in rows:
        words = [word for cell in row.cells for word in cell]
        left = [word for word in words if word.left < gutter - NEAR]
        right = [word for word in words if word.left >= gutter - NEAR]
        if left and right and {word.line for word in left} & {word.line for word in right}:
            both.append((len(left), len(right)))
            ends.append(max(word.right for word in left))
    if len(both) < MIN_ROWS:
        return False
    begin = min(row.cells[0][0].left for row in run)
    is_filled = median(ends) - begin >= MIN_WIDTH * (gutter - begin)
    return is_filled and all(fmean(side) >= MIN_CELL_WORDS for side in zip(*both, strict=True))
