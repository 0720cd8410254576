"""Tables with merged cells: a cell counts for all rows and columns that it covers."""

from collections.abc import Iterable, Sequence

MAX_REPEATED_CHARS = 300
"""A longer text is not repeated, however many rows it covers."""

Merged = tuple[range, range]
"""The rows and columns of a merged cell."""


def unmerge(
    rows: list[list[str]], merged: Sequence[Merged], *, headers: int = 0
) -> list[list[str]]:
    """Return the rows with merged cells filled, all of equal length; the first has column names.

    Column names in several rows, if some are in merged cells, are joined: `Germany EUR`. The text
    of a merged cell is repeated in each row that it covers. The first `headers` rows are always
    names.
    """
    width = max(map(len, rows), default=0)
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    depth = max(headers, _header_rows(rows, merged))
    if depth >= len(rows):
        depth = 1
    for lines, columns in merged:
        if lines.start >= len(rows) or columns.start >= width:
            continue
        value = rows[lines.start][columns.start]
        if len(value) > MAX_REPEATED_CHARS:
            continue
        for line in range(lines.start, min(lines.stop, len(rows))):
            # A title between rows is written once, not in each column.
            for column in columns if line < depth else columns[:1]:
                if column < width and not rows[line][column]:
                    rows[line][column] = value
    return [join_names(rows[:depth]), *rows[depth:]] if rows else []


def join_names(rows: Iterable[Sequence[str]]) -> list[str]:
    """Join the names of columns that are spread over several rows."""
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def _header_rows(rows: Sequence[Sequence[str]], merged: Sequence[Merged]) -> int:
    """Return how many rows name the columns, judging by merged cells."""
    groups = {
        column
        for lines, columns in merged
        if not lines.start and len(columns) > 1
        for column in columns
    }
    depth = max((len(lines) for lines, _ in merged if not lines.start), default=1)
    if groups and depth == 1 and len(rows) > 2 and not any(map(_is_number, rows[1])):
        # Only a data row has values in other columns.
        pairs = enumerate(zip(rows[0], rows[1], strict=True))
        depth += all(column in groups or not all(pair) for column, pair in pairs)
    return depth


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text[:2].lstrip("+-\u2212").isdigit()
