"""Spreadsheets (.xlsx, .xls, .ods) and delimited text (.csv, .tsv): rows under their header."""

import csv
import io
from collections.abc import Sequence
from datetime import date, datetime
from itertools import zip_longest
from typing import Any

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, Reader, UnreadableError
from foundry.readers.formats.packed import Package, describe

MAX_CELLS = 5_000_000
MAX_ROWS = 1_000_000
MAX_CELL_CHARS = 131_072  # More is a quote without its partner, not a cell.
_DELIMITERS = ",;\t|"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_XLS = "application/vnd.ms-excel"


def read(content: bytes) -> Reading:
    """Read the visible sheets; a sheet's number is its page, its first table row the header.

    Cells hold what formulas gave when the file was saved. Raises UnreadableError for a bomb, for
    more cells than can be told from one, and for an encrypted workbook.
    """
    import python_calamine

    package = Package(content) if content.startswith(b"PK") else None
    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    except python_calamine.PasswordError:
        raise UnreadableError(Reason.ENCRYPTED) from None
    composer = Composer()
    cells = 0
    for details in workbook.sheets_metadata:
        composer.page()
        if details.visible != python_calamine.SheetVisibleEnum.Visible:
            continue
        if details.typ != python_calamine.SheetTypeEnum.WorkSheet:
            continue
        sheet = workbook.get_sheet_by_name(details.name)
        cells += sheet.total_height * sheet.total_width
        if cells > MAX_CELLS:
            raise UnreadableError(Reason.TOO_MANY_CELLS, f"the limit is {MAX_CELLS}")
        titles, values = _read_table(sheet)
        if rows := _filled(values):
            composer.heading(2, details.name)
            composer.text("\n".join(titles))
            composer.table(rows)
    properties = None
    if package is not None:
        has_meta = "meta.xml" in package.names
        properties = package.xml("meta.xml" if has_meta else "docProps/core.xml")
    return composer.finish(**describe(properties))


def _read_table(sheet: Any) -> tuple[list[str], list[list[Any]]]:
    """Return the titles above a sheet's table, and its rows, of which the first names the columns.

    Names in several rows, of which some are merged cells, become one: `Germany EUR`. In each row
    below stands what a merged cell says of it.
    """
    rows = sheet.to_python(skip_empty_area=True)
    top, left = sheet.start or (0, 0)
    titles: list[str] = []
    while len(rows) > 2 and rows[0][0] != "" and not any(rows[0][1:]) and len(rows[0]) > 1:
        titles.append(_to_text(rows.pop(0)[0]))
        top += 1
    merged = [
        (range(first - top, last - top + 1), range(begin - left, end - left + 1))
        for (first, begin), (last, end) in sheet.merged_cell_ranges or ()
        if top <= first < top + len(rows) and left <= begin < left + len(rows[0])
    ]
    groups = {
        column
        for lines, columns in merged
        if not lines[0] and len(columns) > 1
        for column in columns
    }
    depth = max((len(lines) for lines, _ in merged if not lines[0]), default=1)
    if groups and depth == 1 and len(rows) > 2 and all(isinstance(cell, str) for cell in rows[1]):
        # A row of the table has values elsewhere too.
        pairs = enumerate(zip(rows[0], rows[1], strict=True))
        depth += all(column in groups or not all(pair) for column, pair in pairs)
    for lines, columns in merged:
        value = rows[lines[0]][columns[0]]
        for line in range(lines[0], min(lines[-1] + 1, len(rows))):
            # A title among the rows is not repeated in each column.
            for column in columns if line < depth else columns[:1]:
                if column < len(rows[line]):
                    rows[line][column] = value
    names = [
        " ".join(dict.fromkeys(filter(None, map(_to_text, column))))
        for column in zip(*rows[:depth], strict=True)
    ]
    return titles, [names, *rows[depth:]]


def _filled(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    """Return the rows that hold anything, as strings, without columns that are empty throughout."""
    texts = ([_to_text(value) for value in row] for row in rows)
    columns = (column for column in zip_longest(*texts, fillvalue="") if any(column))
    return [row for row in zip(*columns, strict=True) if any(row)]


def _to_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    return str(value).strip()


def read_delimited(text: str) -> Reading:
    """Read a table's rows; the delimiter is what stands most often in the first line.

    A text that is no table (one column, a cell without an end) is read as it was written.
    """
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter, strict=True):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > MAX_ROWS or max(map(len, row), default=0) > MAX_CELL_CHARS:
                return Reading(text=text)
    except csv.Error:
        return Reading(text=text)
    if len(rows) < 2 or len(rows[0]) < 2:
        return Reading(text=text)
    composer = Composer()
    composer.table(rows)
    return composer.finish()


READER = FileReader(
    "sheets/1",
    {"Excel": _XLSX, "old Excel": _XLS},
    {".xlsx": _XLSX, ".xlsm": _XLSX, ".xls": _XLS},
    read,
    ("python_calamine",),
    "office",
)
TEXT_READER = Reader(
    "delimited/1", {".csv": "text/csv", ".tsv": "text/tab-separated-values"}, read_delimited
)
