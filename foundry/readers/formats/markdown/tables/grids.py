"""Rewrites Pandoc's grid tables, whose cells may have several lines, as pipe tables."""

import re
from collections.abc import Sequence

from foundry.readers.composing import pipe_table
from foundry.readers.formats.markdown.directives import FENCE, fence_after
from foundry.readers.formats.office.merging import Merged, unmerge

_RULE = re.compile(r" {0,3}\+(?:[:=-]{2,}\+)+[ \t]*")
_ROW = re.compile(r" {0,3}[|+].*[|+][ \t]*")
LEAST_LINES, MAX_CHARS = 3, 200_000
_PAD = "\0"


def rewrite_grids(text: str) -> str:
    """Convert grid tables, except in code, to pipe tables; the number of lines stays the same."""
    if "--+" not in text and "==+" not in text:
        return text
    lines, fence, number = text.split("\n"), "", 0
    while number < len(lines):
        if mark := FENCE.match(lines[number]):
            fence = fence_after(mark, fence)
        end = number
        if not fence and _RULE.fullmatch(lines[number]):
            while end < len(lines) and _ROW.fullmatch(lines[end]):
                end += 1
            if (made := _convert(lines[number:end])) is not None:
                lines[number:end] = [*made, *[""] * (end - number - len(made))]
        number = max(end, number + 1)
    return "\n".join(lines)


def _convert(lines: list[str]) -> list[str] | None:
    """Return a grid as a pipe table; None if its lines do not form one."""
    if len(lines) < LEAST_LINES or sum(map(len, lines)) > MAX_CHARS:
        return None
    # Imported when needed, since few texts have a grid.
    from docutils.parsers.rst.tableparser import GridTableParser, TableMarkupError
    from docutils.statemachine import StringList

    begin = len(lines[0]) - len(lines[0].lstrip())
    block = StringList([line[begin:].rstrip() for line in lines], "")
    has_head = False
    for number, line in enumerate(block.data):
        if _RULE.fullmatch(line):
            # docutils supports neither colons, which give the alignment, nor footers, whose rule
            # looks like a header's. Such rules become plain ones.
            line = line.replace("=:", "==").replace(":=", "==").replace(":", "-")
            is_head = "=" in line and not has_head
            has_head = has_head or is_head
            block.data[number] = line if is_head else line.replace("=", "-")
    block.pad_double_width(_PAD)
    try:
        _, head, body = GridTableParser().parse(block)
    except TableMarkupError:
        return None
    rows, merged = list[list[str]](), list[Merged]()
    for cells in (*head, *body):
        for column, cell in enumerate(cells):
            if cell is not None and (cell[0] or cell[1]):
                down, right = cell[0] + 1, cell[1] + 1
                merged.append((range(len(rows), len(rows) + down), range(column, column + right)))
        rows.append([_text(cell[3]) if cell else "" for cell in cells])
    return table_lines(unmerge(rows, merged, headers=len(head)))


def _text(lines: list[str]) -> str:
    return " ".join(" ".join(lines).replace(_PAD, "").split())


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose cells are Markdown, so a `|` may be escaped already."""
    return pipe_table([[cell.replace("\\|", "|") for cell in row] for row in rows]).split("\n")
