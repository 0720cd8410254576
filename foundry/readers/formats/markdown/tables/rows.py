"""Tables of MyST that are written as lists or as CSV."""

import csv
import re

from foundry.documents.left_out import Omission
from foundry.readers.formats.markdown.roles import write_roles
from foundry.readers.formats.markdown.tables.grids import table_lines
from foundry.readers.notes import leave_out

MAX_RECORD_CHARS = 10_000
CODE = frozenset("code code-block code-cell sourcecode prompt ipython testcode doctest".split())
"""Directives that hold code."""
_ROW = re.compile(r"[ \t]*[*+-][ \t]+[*+-][ \t]*(.*)$")
_CELL_FENCE = re.compile(r"(`{3,}|~{3,}|:{3,})[ \t]*(\{[\w:.+-]{1,40}\})?(.*)$")
_CELL = re.compile(r"[ \t]+[*+-](?:[ \t]+(.*))?$")


class TableRows:
    """Collects the rows of a table, and writes them into the lines of the document."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._rows: list[list[str]] = []
        self._begin = 0
        # The fence that is open in a cell, and whether it holds code.
        self._cell_fence = ("", False)

    def take_row(self, line: str) -> None:
        """Take a line of a list table."""
        if self._cell_fence[0]:
            self._add_to_cell(line)
        elif row := _ROW.match(line):
            if not self._rows:
                self._begin = len(self._lines) + bool(self._lines[-1].strip())
            self._rows.append([""])
            self._add_to_cell(row[1])
        elif self._rows and (cell := _CELL.match(line)):
            self._rows[-1].append("")
            self._add_to_cell(cell[1] or "")
        elif self._rows:
            self._add_to_cell(line)
        self._lines.append("")

    def take_record(self, line: str) -> None:
        """Take a line of CSV as a row of a table."""
        if len(line) > MAX_RECORD_CHARS:
            self._lines.append(line)
            return
        if cells := next(csv.reader([line.strip()], skipinitialspace=True), []):
            if not self._rows:
                self._begin = len(self._lines) + bool(self._lines[-1].strip())
            self._rows.append([write_roles(cell.strip()) for cell in cells])
        self._lines.append("")

    def _add_to_cell(self, line: str) -> None:
        """Add a line to the last cell: each line of code as code, others as text."""
        said, (mark, is_code) = line.strip(), self._cell_fence
        fence = _CELL_FENCE.match(said)
        if mark and fence and fence[1].startswith(mark) and not (fence[2] or fence[3]):
            self._cell_fence, said = ("", False), ""
        elif fence and not mark and "`" not in fence[3]:
            name = (fence[2] or "").strip("{}")
            holds_code = fence[1][0] != ":" and name.rpartition(":")[2] in CODE | {""}
            self._cell_fence = (fence[1], holds_code)
            leave_out(Omission.MACRO, f"{name} {fence[3] if holds_code else ''}".strip())
            said = "" if holds_code else write_roles(fence[3].strip())
        elif said and is_code:
            said = f"`` {said} ``" if "`" in said else f"`{said}`"
        else:
            said = write_roles(said)
        self._rows[-1][-1] = f"{self._rows[-1][-1]} {said}".strip()

    def end(self) -> None:
        """Write the rows in place of the first lines that they were on."""
        if self._rows:
            written = table_lines(self._rows)
            # A table of one column has no line to spare for the rule below its header.
            self._lines[self._begin : self._begin + len(written)] = written
        self._rows, self._cell_fence = [], ("", False)
