"""Reads AsciiDoc tables as rows of cells; cells that span rows or columns are repeated."""

import csv
import re
from collections.abc import Iterator, Sequence

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

_CODE = re.compile(r"(?:-{4,}|\.{4,}|`{3,})$")
_BLOCK = re.compile(r"={4,}|\*{4,}|_{4,}|--|\+|\[[^\[\]]+\]")
_ADMONITION = re.compile(r"\[(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\b")
_LISTED = re.compile(r"\[(?:source|listing|literal|[A-Z]{3,9})\b[^\[\]]*\]")
_ITEM = re.compile(r"^(?:[*.]{1,5}|-)[ \t]+(?=\S)")
MAX_CELLS = 1_000_000
MAX_SPAN = 100
_COLUMNS = re.compile(r"\bcols=(?:\"([^\"\]]{1,500})\"?|([^,\"\]]{1,100}))")
_FORMAT = re.compile(r"\bformat=\"?(\w{3})|%(csv|tsv|dsv)\b")
_SEPARATOR = re.compile(r"\bseparator=\"?([^\s\"\],])")
_REPEATED = re.compile(r"(\d{1,3})\*")
# A specification may precede a cell: `2+^s|`, `.3+|`, `3*|`.
_SPEC = r"(?:(?:^|(?<=\s))(?:([1-9]\d?)?(?:\.([1-9]\d{0,2}))?([+*]))?[<^>.]{0,4}[adehlmsv]?)?"
_SEPARATORS = {"csv": ",", "tsv": "\t", "dsv": ":"}
_OF_FENCE = {",": "csv", ":": "dsv", "|": "psv", "!": "psv"}


def read_table(lines: Sequence[str], block: str, fence: str) -> list[list[str]] | None:
    """Return the rows of a table; None if it has too many cells.

    `block` has its attributes, `fence` is its first line. Without `cols`, the first row determines
    the number of columns.
    """
    written = _FORMAT.search(block)
    kind = (written[1] or written[2]) if written else _OF_FENCE[fence[0]]
    stated = _SEPARATOR.search(block)
    if kind in _SEPARATORS:
        separator = stated[1] if stated else _SEPARATORS[kind]
        rows = csv.reader([line for line in lines if line.strip()], delimiter=separator)
        return [[cell.strip() for cell in row] for row in rows]
    mark = stated[1] if stated else fence[0]
    if sum(line.count(mark) for line in lines) > MAX_CELLS:
        return None
    cells, first = _cells(lines, mark)
    return _lay_out(cells, _width(block) or first)


def _width(block: str) -> int:
    columns = _COLUMNS.search(block)
    if columns is None:
        return 0
    parts = re.split("[,;]", (columns[1] or columns[2]).strip())
    repeated = [_REPEATED.match(part.strip()) for part in parts]
    return sum(int(each[1]) if each else 1 for each in repeated)


_Cell = tuple[str, int, int]
"""A text, and the numbers of columns and rows that it spans."""


def _cells(lines: Sequence[str], mark: str) -> tuple[list[_Cell], int]:
    """Return the cells, and the number of columns in the first line."""
    split = re.compile(rf"{_SPEC}(?<!\\){re.escape(mark)}")
    cells: list[_Cell] = []
    first, fence = 0, ""
    for line in lines:
        before, *begun = split.split(line)
        said = before.strip()
        if not begun and (mark_of_code := _CODE.match(said)):
            fence = "" if said == fence else fence or mark_of_code[0]
            said = ""
        elif said and fence:
            said = f"`{said}`" if "`" not in said else said
        elif not begun:
            # A cell is one line, without the marks of the blocks in it.
            if _BLOCK.fullmatch(said):
                said = _kind_of(said)
            said = _ITEM.sub("", said)
        if cells and said:
            text, columns, rows = cells[-1]
            cells[-1] = f"{text} {said}".strip(), columns, rows
        for place in range(0, len(begun), 4):
            across, down, sign, text = begun[place : place + 4]
            text = text.strip().replace(f"\\{mark}", mark)
            if _LISTED.fullmatch(text):
                text = _kind_of(text)
            times = min(int(across or 1), MAX_SPAN)
            cells += [(text, 1, 1)] * times if sign == "*" else [(text, times, int(down or 1))]
        if cells and not first:
            first = sum(columns for _, columns, _ in cells)
    return cells, first


def _kind_of(attributes: str) -> str:
    """Return the kind of an admonition in a cell, as text; "" for other blocks."""
    if kind := _ADMONITION.match(attributes):
        return f"{kind[1].capitalize()}:"
    leave_out(Omission.ATTRIBUTE, attributes)
    return ""


def _lay_out(cells: Sequence[_Cell], width: int) -> list[list[str]]:
    """Return rows of equal length, repeating cells that span rows or columns."""
    width = max(width, 1)
    rows: list[list[str]] = []
    below: dict[int, tuple[str, int]] = {}

    def fill(row: list[str]) -> Iterator[str]:
        while len(row) < width and below.get(len(row), ("", 0))[1]:
            text, count = below[len(row)]
            below[len(row)] = text, count - 1
            yield text

    row: list[str] = []
    for text, columns, spanned in cells:
        for said in fill(row):
            row.append(said)
        for _ in range(columns):
            if len(row) < width:
                below[len(row)] = text, spanned - 1
                row.append(text)
        for said in fill(row):
            row.append(said)
        if len(row) >= width:
            rows.append(row)
            row = []
    return [*rows, row] if row else rows
