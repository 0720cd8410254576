"""Lines of PDF pages: in tables, in columns, and from top to bottom."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from foundry.readers.formats.pdf.columns import split_columns
from foundry.readers.formats.pdf.divided import JOINT
from foundry.readers.formats.pdf.rows import Row, Word, find_rows
from foundry.readers.formats.pdf.tables import Table

PARAGRAPH_GAP = 0.75
"""Minimum white space above a line that starts a paragraph, in heights of that line."""

_DIVIDED_END = re.compile(rf"[^\W\d_][{JOINT}\-\u00ad\u2010]")
_REST = re.compile(r"([^\W\d_]+\S*)\s*")


@dataclass(slots=True)
class Line:
    """A line of a page, or a table, which has `rows`; `size` is its type size in points.

    `top` and `bottom` are distances from the page's top edge, as shares of its height; `angle` is
    the angle of its type, in degrees.
    """

    text: str
    size: float
    top: float
    bottom: float
    rows: tuple[tuple[str, ...], ...] = ()
    angle: int = 0


def put_in_tables(lines: Sequence[Line], tables: Sequence[Table]) -> list[Line]:
    """Return the lines, with each table replacing the first of its lines."""
    whole = {min(table.lines): table for table in tables if table.lines}
    inside = frozenset[int]().union(*(table.lines for table in tables))
    kept = []
    for number, line in enumerate(lines):
        if table := whole.get(number):
            members = [lines[each] for each in table.lines]
            text = " ".join(member.text for member in members)
            top = min(member.top for member in members)
            bottom = max(member.bottom for member in members)
            kept.append(Line(text, line.size, top, bottom, table.rows))
        elif number not in inside:
            kept.append(line)
    return kept


def split_lines(
    lines: Sequence[Line], words: Sequence[Word], rows: Sequence[Row], tables: Sequence[Table]
) -> tuple[list[Line], list[Table]]:
    """Split lines that span columns drawn row by row, and reorder their parts.

    Returns the page's lines, and the tables with the new numbers of their lines.
    """
    inside = frozenset[int]().union(*(table.lines for table in tables))
    if inside:
        words = [word for word in words if word.line not in inside]
        rows = find_rows(words)
    regions = split_columns(words, rows)
    if not regions:
        return list(lines), list(tables)
    firsts = {min(line for line, _ in region): region for region in regions}
    taken = {line for region in regions for line, _ in region}
    split: list[Line] = []
    places: dict[int, int] = {}
    for number, line in enumerate(lines):
        for part, members in firsts.get(number, ()):
            text = " ".join(word.text for word in members)
            split.append(replace(lines[part], text=text))
        if number not in taken:
            places[number] = len(split)
            split.append(line)
    renumbered = (frozenset(places[line] for line in table.lines) for table in tables)
    return split, [replace(t, lines=lines) for t, lines in zip(tables, renumbered, strict=True)]


def order(lines: list[Line]) -> list[Line]:
    """Return the lines from top to bottom, unless two of them are side by side."""
    ordered = sorted(lines, key=lambda line: line.top)
    is_one_column = all(
        line.top >= above.bottom - 0.3 * (above.bottom - above.top)
        for above, line in pairwise(ordered)
    )
    return ordered if is_one_column else lines


def join_divided(pages: Iterable[Sequence[Line]]) -> list[list[Line]]:
    """Join words that are hyphenated at the end of a column or page."""
    joined = [list(lines) for lines in pages]
    last: tuple[list[Line], int] | None = None
    for lines in joined:
        for place, line in enumerate(lines):
            rest = _REST.match(line.text) if last and not line.rows else None
            if last and rest and _is_elsewhere(last[0][last[1]], line, last[0] is lines):
                before, number = last
                text = before[number].text + "\n" + rest[1]
                before[number] = replace(before[number], text=text)
                lines[place] = replace(line, text=line.text[rest.end() :])
            is_divided = not line.rows and _DIVIDED_END.fullmatch(line.text[-2:])
            last = (lines, place) if is_divided else None
    return [[line for line in lines if line.text] for lines in joined]


def _is_elsewhere(line: Line, after: Line, is_same_page: bool) -> bool:
    """Return whether a line of the same type size starts another column or page."""
    return line.size == after.size and (not is_same_page or begins_paragraph(line, after))


def begins_paragraph(previous: Line, line: Line) -> bool:
    """Return whether a line is too far below the one before it, or in another column."""
    height = max(line.bottom - line.top, 1e-6)
    gap = line.top - previous.bottom
    is_other_column = gap < -2 * height
    return gap > PARAGRAPH_GAP * height or is_other_column
