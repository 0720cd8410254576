"""Reads the tables of manual pages, which the preprocessor tbl lays out."""

import re

from foundry.documents.left_out import Omission
from foundry.readers.formats.man.escapes import arguments, unescape
from foundry.readers.notes import leave_out

REQUEST = re.compile(r"[.'][ \t]*([A-Za-z%][A-Za-z0-9]{0,30}|\\\")[ \t]*(.*)")
FONTS = {"B", "I", "SM", "SB", "R"}
ALTERNATING = {"BR", "RB", "IR", "RI", "BI", "IB"}


def read_rows(content: list[str], strings: dict[str, str]) -> list[list[str]]:
    """Return the rows of a table, which begin after a line of formats that ends with a dot."""
    stated = re.search(r"tab[ \t]*\((.)\)", content[0]) if content else None
    separator = stated[1] if stated else "\t"
    formats = (place for place, line in enumerate(content, 1) if line.rstrip().endswith("."))
    begin = next(formats, 0)
    leave_out(Omission.ATTRIBUTE, "\n".join(content[:begin]))
    rows: list[list[str]] = []
    lines = iter(_join_cells(content[begin:]))
    for line in lines:
        if line.startswith(".T&"):
            # Other formats, for the rows that follow.
            leave_out(Omission.ATTRIBUTE, line)
            while not line.rstrip().endswith(".") and (line := next(lines, ".")):
                leave_out(Omission.ATTRIBUTE, line)
            continue
        if line.startswith(".") or line.strip() in {"_", "=", ""}:
            request = REQUEST.match(line)
            leave_out(Omission.COMMENT, line)
            if request and rows and request[1] in FONTS | ALTERNATING:
                rows.append(["".join(arguments(request[2]))])
            continue
        rows.append([unescape(cell, strings).strip() for cell in line.split(separator)])
    return rows


def _join_cells(lines: list[str]) -> list[str]:
    """Return the lines with each cell between `T{` and `T}` on one line."""
    joined: list[str] = []
    is_open = False
    for line in lines:
        if is_open:
            # Requests in a cell only affect layout, except those for fonts.
            request = REQUEST.match(line)
            alternates = request and request[1] in ALTERNATING
            words = arguments(request[2]) if request else []
            said = ("" if alternates else " ").join(words) if request else line
            joined[-1] += f" {said}"
        else:
            joined.append(line)
        is_open = joined[-1].count("T{") > joined[-1].count("T}")
    return [line.replace("T{", "").replace("T}", "") for line in joined]
