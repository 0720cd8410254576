"""Reads delimited text (.csv, .tsv): titles above a table, and its rows below their header."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.contract import Reader
from foundry.readers.formats.office.grids import Grid, add_grid
from foundry.readers.notes import leave_out

MAX_ROWS = 1_000_000
MAX_CELL_CHARS = 131_072  # A longer cell is caused by an unclosed quote.
MAX_TITLES = 20
EXAMINED_ROWS = 200
EXAMINED_CHARS = 100_000
# If two delimiters fit equally well, the comma is probably the decimal separator.
_DELIMITERS = ("\t", ";", "|", ",")


def read_delimited(text: str) -> Reading:
    """Read the rows of a table.

    The delimiter is the declared one, or the one with which most rows have equal length. Other text
    (one column, an unclosed cell) is left unchanged.
    """
    table, stated = _without_statement(text)
    delimiter = stated or _find_delimiter(table)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(
            io.StringIO(table), delimiter=delimiter, skipinitialspace=True, strict=True
        ):
            rows.append(row)
            if len(rows) > MAX_ROWS or max(map(len, row), default=0) > MAX_CELL_CHARS:
                return Reading(text=text)
    except csv.Error:
        return Reading(text=text)
    width = _usual_width(rows)
    if width < 2 or sum(any(row) for row in rows) < 2:
        return Reading(text=text)
    if table is not text:
        leave_out(Omission.MACRO, text[: len(text) - len(table)])
    composer = Composer()
    titles = _titles(rows, width)
    if (header := _short_header(rows, titles, width)) is not None:
        titles -= 1
        rows[titles] = header
    separator = delimiter if delimiter == "\t" else f"{delimiter} "
    composer.text(
        "\n".join(separator.join(filter(None, map(str.strip, row))) for row in rows[:titles])
    )
    add_grid(composer, Grid([[*map(str.strip, row)] for row in rows[titles:]]))
    return composer.finish()


def _without_statement(text: str) -> tuple[str, str]:
    """Return a text without Excel's line `sep=;`, and the delimiter in that line, or ""."""
    first, _, rest = text.partition("\n")
    name, _, value = first.strip('"').rstrip("\r").partition("=")
    is_stated = name.strip().lower() == "sep" and len(value.strip(" ")) == 1
    return (rest, value.strip(" ")) if is_stated else (text, "")


def _find_delimiter(text: str) -> str:
    """Return the delimiter that gives most rows the same number of columns, above one."""

    def agreement(delimiter: str) -> tuple[float, int]:
        widths = Counter(map(len, _sample(text, delimiter)))
        width, count = max(widths.items(), key=lambda each: (each[0] > 1, each[1]), default=(1, 0))
        return (count / widths.total(), width) if width > 1 else (0.0, 0)

    return max(_DELIMITERS, key=agreement)


def _sample(text: str, delimiter: str) -> Iterator[list[str]]:
    head = text[:EXAMINED_CHARS]
    if len(text) > EXAMINED_CHARS:
        head = head[: head.rfind("\n") + 1] or head
    try:
        reader = csv.reader(io.StringIO(head), delimiter=delimiter, skipinitialspace=True)
        yield from (row for row in islice(reader, EXAMINED_ROWS) if any(row))
    except csv.Error:
        return


def _usual_width(rows: list[list[str]]) -> int:
    widths = Counter(len(row) for row in rows if any(row))
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _titles(rows: list[list[str]], width: int) -> int:
    """Return how many rows are above the table: of a different width, or before an empty row."""
    place = 0
    for place, row in enumerate(rows[:MAX_TITLES]):
        following = rows[place + 1] if place + 1 < len(rows) else []
        is_apart = place < 1 and any(row) and not any(following) and len(rows) > 3
        if any(row) and len(row) == width and not is_apart:
            break
        if any(row) and len(row) > width:
            return 0
    else:
        return 0
    return place


def _short_header(rows: list[list[str]], titles: int, width: int) -> list[str] | None:
    """Return the completed header if the last row above the table is one that lacks a cell.

    R writes no name for the column of row names, so the first cell is missing. Other programs end
    each row with a delimiter, so the last one is.
    """
    above, first = rows[titles - 1 : titles], rows[titles]
    if not above or width < 2 or len(above[0]) != width - 1 or not all(above[0]):
        return None
    if any(map(_is_number, above[0])) or not any(map(_is_number, first)):
        return None
    if width == 2 and not _are_row_names([row[0] for row in rows[titles:] if row]):
        # A line above two columns is a title, unless R numbered the rows of a single column.
        return None
    has_last = any(row[-1].strip() for row in rows[titles:] if len(row) == width)
    return ["", *above[0]] if has_last else [*above[0], ""]


def _are_row_names(cells: Sequence[str]) -> bool:
    """Return whether cells are the names that R gives to rows: 1, 2, 3 ..."""
    return len(cells) > 1 and list(cells) == [str(number + 1) for number in range(len(cells))]


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?[\d.,' ]*\d(?:[eE][-+]?\d+)?", cell.strip()) is not None


TEXT_READER = Reader(
    "delimited/5", {".csv": "text/csv", ".tsv": "text/tab-separated-values"}, read_delimited
)
