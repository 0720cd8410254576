"""Tables of pages, with merged cells filled and header rows joined."""

from collections.abc import Sequence
from dataclasses import dataclass

from foundry.readers.composing import pipe_table
from foundry.readers.formats.pages.blocks import Block, unsplit

MAX_COLUMNS = 1_000
MAX_CELLS = 200_000
MAX_CELL_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text on one line, and the columns and rows that it spans."""

    text: str
    is_head: bool = False
    columns: int = 1
    rows: int = 1


def write_table(rows: Sequence[Sequence[Cell]], heads: int) -> list[Block] | None:
    """Return the rows of `lay_out` as a table; None if they do not fit into one."""
    grid = lay_out(rows, heads)
    if grid is None or any(len(cell) > MAX_CELL_CHARS for row in grid for cell in row):
        return None
    return unsplit(pipe_table(grid) if any(map(any, grid)) else "")


def lay_out(rows: Sequence[Sequence[Cell]], heads: int) -> list[list[str]] | None:
    """Return rows of equal length, the first being the header, with merged cells filled.

    The first `heads` rows are headers; if it is 0, the leading rows of header cells, or else the
    first row. Returns None for a table of more than MAX_COLUMNS or MAX_CELLS.
    """
    grid: list[list[Cell | None]] = [[] for _ in rows]
    cells = 0
    for place, row in enumerate(rows):
        column = 0
        for cell in row:
            while column < len(grid[place]) and grid[place][column] is not None:
                column += 1
            last = min(place + (cell.rows or len(rows)), len(rows))
            cells += cell.columns * (last - place)
            if column + cell.columns > MAX_COLUMNS or cells > MAX_CELLS:
                return None
            for filled in grid[place:last]:
                filled += [None] * (column + cell.columns - len(filled))
                filled[column : column + cell.columns] = [cell] * cell.columns
            column += cell.columns
    width = max(map(len, grid), default=0)
    full = [filled + [None] * (width - len(filled)) for filled in grid]
    if not heads:
        for filled in full[: len(full) - 1]:
            if not all(cell is None or cell.is_head for cell in filled):
                break
            heads += 1
    heads = min(max(heads, 1), len(full))
    header = [_joined([filled[column] for filled in full[:heads]]) for column in range(width)]
    body = [[cell.text if cell else "" for cell in filled] for filled in full[heads:]]
    return [header, *(row for row in body if any(row))]


def _joined(cells: Sequence[Cell | None]) -> str:
    different = {id(cell): cell.text for cell in cells if cell is not None}
    return " ".join(filter(None, different.values()))
