"""Rewrites Pandoc's simple and multiline tables as pipe tables; runs of dashes mark columns.

  Fruit     Kg
--------- ----
Plum         3
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from foundry.readers.formats.markdown.directives import FENCE, fence_after
from foundry.readers.formats.markdown.tables.grids import table_lines

_RULE = re.compile(r" {0,3}-{3,}(?: +-{3,})+[ \t]*")
_WHOLE_RULE = re.compile(r" {0,3}-{10,}[ \t]*")
_COLUMN = re.compile(r"-+")
MAX_HEAD, MAX_LINES = 20, 2_000


def rewrite_columns(text: str) -> str:
    """Convert tables, except in code, to pipe tables; the number of lines stays the same."""
    if "--- " not in text:
        return text
    lines, fence, number = text.split("\n"), "", 0
    while number < len(lines):
        if mark := FENCE.match(lines[number]):
            fence = fence_after(mark, fence)
        elif not fence and (found := _find(lines, number)):
            begin, end, made = found
            lines[begin:end] = [*made, *[""] * (end - begin - len(made))]
            number = end
        number += 1
    return "\n".join(lines)


def _find(lines: Sequence[str], rule: int) -> tuple[int, int, list[str]] | None:
    """Return the line range of the table with this rule, and its new lines; None if it has none."""
    if not _RULE.fullmatch(lines[rule]):
        return None
    begin = rule
    while begin > 0 and rule - begin < MAX_HEAD and lines[begin - 1].strip():
        begin -= 1
    has_blanks = _WHOLE_RULE.fullmatch(lines[begin]) is not None
    end = rule + 1
    while end < min(len(lines), rule + MAX_LINES) and (has_blanks or lines[end].strip()):
        if _RULE.fullmatch(lines[end]) or _WHOLE_RULE.fullmatch(lines[end]):
            break
        end += 1
    is_closed = end < len(lines) and lines[end].strip()[:3] == "---"
    head, body = lines[begin + has_blanks : rule], lines[rule + 1 : end]
    needs_end = has_blanks or not head
    if not body or (needs_end and not is_closed) or (len(head) > 1 and not has_blanks):
        return None
    columns = [match.span() for match in _COLUMN.finditer(lines[rule])]
    if not all(_fits(line, columns) for line in (*head, *body)):
        return None
    rows = [_cells(head, columns)] if head else []
    for group in _groups(body) if has_blanks else [[line] for line in body]:
        rows.append(_cells(group, columns))
    return begin, end + is_closed, table_lines(rows)


def _fits(line: str, columns: Sequence[tuple[int, int]]) -> bool:
    """Return whether a line has a space between all columns."""
    gaps = [line[end:begin] for (_, end), (begin, _) in pairwise(columns)]
    return all(not gap or " " in gap for gap in gaps)


def _groups(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a multiline table, which are separated by empty lines."""
    groups: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]


def _cells(lines: Sequence[str], columns: Sequence[tuple[int, int]]) -> list[str]:
    begins = [0, *(begin for begin, _ in columns[1:])]
    ends = [*begins[1:], None]
    return [
        " ".join(filter(None, (line[begin:end].strip() for line in lines)))
        for begin, end in zip(begins, ends, strict=True)
    ]
