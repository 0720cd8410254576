"""Splits sheets into visible parts: titles, tables next to each other, notes around them.

Also parses references to cells, such as `$B$7`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foundry.readers.composing import Composer
from foundry.readers.formats.office.merging import Merged, unmerge

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})$")
_NUMBER = re.compile(r"[-+\u2212(]?[^\w\s]?[-+\u2212]?\s?\d")
MAX_TITLES = 20


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """Rows and columns that a sheet declares as a table, with `names` if no row is its header."""

    lines: range
    columns: range
    names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """The displayed cells of a sheet, row by row, with its merged cells and declared tables."""

    rows: list[list[str]]
    merged: Sequence[Merged] = ()
    declared: Sequence[DeclaredTable] = ()


def add_grid(composer: Composer, grid: Grid) -> None:
    """Add the content of a sheet, table by table, without empty rows and columns.

    Where no table is declared, empty rows and columns divide the sheet.
    """
    begin = 0
    for beside in _beside_each_other(_within(grid)):
        first, last = beside[0].lines.start, max(each.lines.stop for each in beside)
        _add_undeclared(composer, grid, range(begin, first))
        for each in sorted(beside, key=lambda each: (each.lines.start, each.columns.start)):
            table = _cut(grid, each.lines, each.columns)
            rows = unmerge(table.rows, table.merged)
            if each.names:
                width = len(each.columns)
                rows.insert(0, [*each.names, *[""] * width][:width])
            _add_table(composer, rows)
            _clear(grid, each)
        _add_undeclared(composer, grid, range(first, last))
        begin = last
    _add_undeclared(composer, grid, range(begin, len(grid.rows)))


def _within(grid: Grid) -> list[DeclaredTable]:
    """Return the declared tables, extended by columns added next to them; none if they overlap."""
    width = max(map(len, grid.rows), default=0)
    taken = [0] * width
    tables: list[DeclaredTable] = []
    for each in sorted(grid.declared, key=lambda each: (each.lines.start, each.columns.start)):
        head = grid.rows[each.lines.start]
        others = [other.columns.start for other in grid.declared if _shares_rows(other, each)]
        stop = min(each.columns.stop, width)
        while stop < len(head) and head[stop] and stop not in others and not each.names:
            stop += 1
        columns = range(each.columns.start, stop)
        if any(taken[column] > each.lines.start for column in columns):
            return []
        for column in columns:
            taken[column] = each.lines.stop
        tables.append(DeclaredTable(each.lines, columns, each.names))
    return tables


def _shares_rows(one: DeclaredTable, other: DeclaredTable) -> bool:
    return one.lines.start < other.lines.stop and other.lines.start < one.lines.stop


def _beside_each_other(declared: Sequence[DeclaredTable]) -> Iterator[list[DeclaredTable]]:
    """Yield groups of tables that share rows; the tables are in order."""
    group: list[DeclaredTable] = []
    last = 0
    for each in declared:
        if group and each.lines.start >= last:
            yield group
            group = []
        group.append(each)
        last = max(last, each.lines.stop)
    if group:
        yield group


def _clear(grid: Grid, table: DeclaredTable) -> None:
    for row in grid.rows[table.lines.start : table.lines.stop]:
        stop = min(table.columns.stop, len(row))
        row[table.columns.start : stop] = [""] * (stop - table.columns.start)


def _add_undeclared(composer: Composer, grid: Grid, lines: range) -> None:
    rows = grid.rows[lines.start : lines.stop]
    if not any(map(any, rows)):
        return
    part = grid if len(rows) == len(grid.rows) else _cut(grid, lines, range(max(map(len, rows))))
    for block in _blocks(part):
        for beside in _side_by_side(block):
            _add_block(composer, beside)


def _add_block(composer: Composer, grid: Grid) -> None:
    rows = grid.rows
    width = max(sum(map(bool, row)) for row in rows)
    titles = 0
    while titles < min(len(rows) - 1, MAX_TITLES) and _is_title(grid, titles, width):
        titles += 1
    composer.text("\n".join(map(_join, rows[:titles])))
    table = _cut(grid, range(titles, len(rows)), range(len(rows[0])))
    if len(table.rows) == 1:
        composer.text(_join(table.rows[0]))
        return
    _add_table(composer, unmerge(table.rows, table.merged))


def _add_table(composer: Composer, rows: list[list[str]]) -> None:
    used = [column for column, cells in enumerate(zip(*rows, strict=False)) if any(cells)]
    composer.table([[row[column] for column in used] for row in rows if any(row)])


def _join(row: Sequence[str]) -> str:
    """Return a row outside tables as text: `Date: 3 May`, `Report of May, 2024`."""
    texts = [text for text in row if text]
    return (" " if texts and texts[0].endswith(":") else ", ").join(texts)


def _is_title(grid: Grid, line: int, width: int) -> bool:
    """Return whether a row describes the table: one cell, or a name with its value."""
    row = grid.rows[line]
    texts = [text for text in row if text]
    if len(texts) == 2 and texts[0].endswith(":"):
        # A list of only names and values is a table.
        return width > 2 or not all(_is_pair(other) for other in grid.rows[line:])
    is_wide = any(lines.start == line and len(columns) >= width for lines, columns in grid.merged)
    return len(texts) == 1 < width and (bool(row[0]) or is_wide)


def _is_pair(row: Sequence[str]) -> bool:
    texts = [text for text in row if text]
    return len(texts) <= 2 and bool(texts) and texts[0].endswith(":")


def _blocks(grid: Grid) -> Iterator[Grid]:
    """Yield groups of rows; rows after an empty row are a new table if they begin like a table."""
    rows = grid.rows
    runs: list[tuple[int, int]] = []
    start: int | None = None
    covered = {line for lines, _ in grid.merged for line in lines[1:] if line < len(rows)}
    for line, row in enumerate([*rows, []]):
        if any(row) or line in covered:
            start = line if start is None else start
        elif start is not None:
            is_new = not runs or start - runs[-1][1] > 1
            if is_new or _begins_anew(grid, runs[-1], (start, line)):
                runs.append((start, line))
            else:
                runs[-1] = (runs[-1][0], line)
            start = None
    for first, last in runs:
        columns = [
            column
            for column in range(max(map(len, rows[first:last])))
            if any(column < len(row) and row[column] for row in rows[first:last])
        ]
        if columns:
            yield _cut(grid, range(first, last), range(columns[0], columns[-1] + 1))


def _begins_anew(grid: Grid, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Return whether rows after one empty row are a new table."""
    head = [place for place, text in enumerate(grid.rows[after[0]]) if text]
    last = [place for place, text in enumerate(grid.rows[before[1] - 1]) if text]
    texts = [grid.rows[after[0]][place] for place in head]
    if after[1] - after[0] == 1 or len(head) < 2 or any(map(_is_number, texts)):
        return len(last) < 2 <= len(head)
    below = grid.rows[after[0] + 1 : after[1]]
    names_numbers = any(
        place < len(row) and _is_number(row[place]) for row in below for place in head
    )
    return names_numbers or head != last


def _side_by_side(grid: Grid) -> Iterator[Grid]:
    """Yield the tables that empty columns separate, unless they are one table with a gap."""
    left = 0
    width = len(grid.rows[0])
    used = [any(cells) for cells in zip(*grid.rows, strict=True)]
    for column in range(1, width - 2):
        if used[column] or column - left < 2:
            continue
        if any(columns.start <= column < columns.stop for _, columns in grid.merged):
            continue
        sides = _rows_of(grid, range(left, column)), _rows_of(grid, range(column + 1, width))
        names = [{row for row in grid.rows[side[0]] if row} for side in sides if side]
        if len(names) == 2 and _is_apart(grid, sides, left, column):
            yield from _trimmed(grid, range(left, column))
            left = column + 1
    yield from _trimmed(grid, range(left, width))


def _rows_of(grid: Grid, columns: range) -> list[int]:
    return [line for line, row in enumerate(grid.rows) if any(row[columns.start : columns.stop])]


def _is_apart(grid: Grid, sides: tuple[list[int], list[int]], left: int, column: int) -> bool:
    """Return whether two sides are separate tables.

    Both must begin with names, and must differ in their rows or have a name in common.
    """
    first, second = grid.rows[sides[0][0]], grid.rows[sides[1][0]]
    names = {text for text in first[left:column] if text}
    others = {text for text in second[column + 1 :] if text}
    if min(len(names), len(others)) < 2 or any(map(_is_number, names | others)):
        return False
    return sides[0] != sides[1] or bool(names & others)


def _trimmed(grid: Grid, columns: range) -> Iterator[Grid]:
    if used := _rows_of(grid, columns):
        yield _cut(grid, range(used[0], used[-1] + 1), columns)


def _cut(grid: Grid, lines: range, columns: range) -> Grid:
    """Return a part of a grid, with rows of equal width."""
    rows = [
        [row[column] if column < len(row) else "" for column in columns]
        for row in grid.rows[lines.start : lines.stop]
    ]
    merged = [
        (
            range(max(inner.start - lines.start, 0), min(inner.stop, lines.stop) - lines.start),
            range(
                max(across.start - columns.start, 0), min(across.stop, columns.stop) - columns.start
            ),
        )
        for inner, across in grid.merged
        if lines.start <= inner.start < lines.stop and columns.start <= across.start < columns.stop
    ]
    return Grid(rows, merged)


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


def number_of_column(letters: str) -> int:
    """Return a column's number from 0, given its letters; -1 if they are invalid."""
    if not letters.isascii() or not letters.isalpha() or len(letters) > 3:
        return -1
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - 64
    return column - 1


def parse_reference(reference: str) -> tuple[int, int] | None:
    """Return the row (from 1) and column (from 0) of a cell reference; None if it is invalid."""
    found = _REFERENCE.match(reference)
    return (int(found[2]), number_of_column(found[1])) if found else None
