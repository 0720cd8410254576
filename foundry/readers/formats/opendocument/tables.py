"""Reads tables of OpenDocument, in texts, on slides and as sheets."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.composing import Composer
from foundry.readers.contract import UnreadableError
from foundry.readers.formats.office.grids import DeclaredTable, Grid, add_grid, parse_reference
from foundry.readers.formats.office.merging import Merged, unmerge
from foundry.readers.formats.office.number_formats import show_number
from foundry.readers.formats.office.parts import number, texts_of
from foundry.readers.formats.opendocument.names import OFFICE, TABLE
from foundry.readers.notes import leave_out, note_source

MAX_CELLS = 5_000_000
MAX_REPEATED_COLUMNS = 1_000
MAX_REPEATED_ROWS = 1_000
_OPTION = re.compile(r'"([^"]*)"')
_DURATION = re.compile(r"PT(\d{1,6})H(\d{1,2})M(\d{1,2})(?:[.,]\d+)?S$")
CELL = f"{TABLE}table-cell"
CELLS = frozenset({CELL, f"{TABLE}covered-table-cell"})


@dataclass(slots=True)
class Cells:
    """A table's cell texts, merged cells, number of header rows, and each row's number from 1."""

    rows: list[list[str]] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    headers: int = 0
    numbers: list[int] = field(default_factory=list)

    def fill(self) -> list[list[str]]:
        """Return the rows with merged cells filled, with the header first."""
        return unmerge(self.rows, self.merged, headers=self.headers)


def read_table(table: Element, read: Callable[[Element], str]) -> Cells:
    """Return a table's cells, read by `read`. Raises UnreadableError if there are too many."""
    cells = Cells()
    count = number_of_row = 0
    hidden = _hidden_columns(table)
    for row, is_header in _rows(table, False):
        texts = _read_row(row, len(cells.rows), cells.merged, read)
        for column in filter(hidden.__contains__, range(len(texts)) if hidden else ()):
            leave_out(Omission.HIDDEN, texts[column])
            texts[column] = ""
        stated = number(row.get(f"{TABLE}number-rows-repeated"), 1)
        number_of_row += stated
        repeated = min(stated, MAX_REPEATED_ROWS if any(texts) else 2)
        if any(texts) and stated > repeated:
            leave_out(Omission.TOO_LONG, "\n".join([" ".join(texts)] * min(stated - repeated, 9)))
        if row.get(f"{TABLE}visibility") in _HIDDEN:
            leave_out(Omission.HIDDEN, " ".join(texts))
            continue
        cells.headers += is_header and cells.headers == len(cells.rows)
        count += repeated * len(texts)
        if count > MAX_CELLS:
            raise UnreadableError(Reason.TOO_MANY_CELLS, f"the limit is {MAX_CELLS}")
        cells.rows += [[*texts] for _ in range(repeated)]
        first = number_of_row - stated + 1
        cells.numbers += range(first, first + repeated)
    return cells


def add_sheet(
    composer: Composer,
    table: Element,
    name: str,
    read: Callable[[Element], str],
    ranges: Iterable[str],
) -> None:
    """Add the tables of a sheet below its name; `ranges` are areas declared as tables."""
    cells = read_table(table, lambda cell: read(cell) or _value_of(cell))
    if any(any(row) for row in cells.rows):
        composer.heading(2, name)
        declared = [one for each in ranges if (one := _declared(each, cells.numbers))]
        add_grid(composer, Grid(cells.rows, cells.merged, declared))


def read_prompts(body: Element) -> dict[str, str]:
    """Return the prompts and options of validated cells by the name of the validation.

    The messages for wrong values are recorded as left out.
    """
    prompts: dict[str, str] = {}
    for each in body.iter(f"{TABLE}content-validation"):
        for message in each.iterfind(f"{TABLE}error-message"):
            title = message.get(f"{TABLE}title", "")
            note_source(title)
            leave_out(Omission.FORM, f"{title} {texts_of(message)}".strip())
        said = ""
        for message in each.iterfind(f"{TABLE}help-message"):
            said = ": ".join(filter(None, (message.get(f"{TABLE}title"), texts_of(message))))
        condition = each.get(f"{TABLE}condition", "")
        options = _OPTION.findall(condition) if "is-in-list" in condition else []
        if options:
            listed = ", ".join(options)
            said = f"{said} ({listed})" if said else listed
        prompts[each.get(f"{TABLE}name", "")] = said
    return prompts


def _declared(area: str, numbers: list[int]) -> DeclaredTable | None:
    """Return the visible rows of an area such as `Sheet.A1:Sheet.C9` as a table.

    Returns None for fewer than two rows or columns, or if the first row is hidden.
    """
    first, _, last = area.rpartition(":")
    corners = [parse_reference(each.rpartition(".")[2]) for each in (first or last, last)]
    if not all(corners):
        return None
    (top, left), (bottom, right) = (each for each in corners if each)
    begin, end = bisect_left(numbers, top), bisect_right(numbers, bottom)
    # One row, or one column, is no table.
    if end - begin < 2 or right <= left or numbers[begin] != top:
        return None
    return DeclaredTable(range(begin, end), range(left, right + 1))


def _rows(parent: Element, is_header: bool) -> Iterator[tuple[Element, bool]]:
    for element in parent:
        if element.tag == f"{TABLE}table-row":
            yield element, is_header
        elif element.tag in _GROUPS:
            yield from _rows(element, is_header or element.tag == f"{TABLE}table-header-rows")


def _columns(parent: Element) -> Iterator[Element]:
    for element in parent:
        if element.tag == f"{TABLE}table-column":
            yield element
        elif element.tag in _COLUMN_GROUPS:
            yield from _columns(element)


def _hidden_columns(table: Element) -> set[int]:
    hidden: set[int] = set()
    count = 0
    for column in _columns(table):
        repeated = min(
            number(column.get(f"{TABLE}number-columns-repeated"), 1), MAX_REPEATED_COLUMNS
        )
        if column.get(f"{TABLE}visibility") in _HIDDEN:
            hidden.update(range(count, count + repeated))
        count += repeated
    return hidden


_COLUMN_GROUPS = frozenset(
    f"{TABLE}{name}" for name in ("table-header-columns", "table-column-group", "table-columns")
)
_HIDDEN = frozenset({"collapse", "filter"})
_GROUPS = frozenset(
    f"{TABLE}{name}" for name in ("table-header-rows", "table-row-group", "table-rows")
)


def _read_row(
    row: Element, line: int, merged: list[Merged], read: Callable[[Element], str]
) -> list[str]:
    texts: list[str] = []
    for cell in row:
        if cell.tag not in CELLS:
            continue
        is_covered = cell.tag == f"{TABLE}covered-table-cell"
        if is_covered and len(cell):
            # A cell that was merged into another keeps its content, which is not shown.
            leave_out(Omission.HIDDEN, texts_of(cell))
        text = "" if is_covered else read(cell)
        repeated = number(cell.get(f"{TABLE}number-columns-repeated"), 1)
        across = number(cell.get(f"{TABLE}number-columns-spanned"), 1)
        down = number(cell.get(f"{TABLE}number-rows-spanned"), 1)
        if across > 1 or down > 1:
            column = len(texts)
            merged.append((range(line, line + down), range(column, column + across)))
        texts += [text] * min(repeated, MAX_REPEATED_COLUMNS)
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _value_of(cell: Element) -> str:
    """Return the value of a cell for which no displayed text is stored."""
    names = ("string-value", "date-value", "time-value", "boolean-value", "value")
    value = next(filter(None, (cell.get(f"{OFFICE}{name}") for name in names)), "")
    if not value:
        formula = cell.get(f"{TABLE}formula", "").partition("=")
        return "".join(formula[1:])
    if cell.get(f"{OFFICE}value-type") == "percentage":
        with suppress(ValueError, OverflowError):
            return show_number(float(value), "0.##%")
    if currency := cell.get(f"{OFFICE}currency"):
        return f"{value} {currency}"
    if duration := _DURATION.match(value):
        hours, minutes, seconds = map(int, duration.groups())
        return f"{hours}:{minutes:02}:{seconds:02}"
    return value
