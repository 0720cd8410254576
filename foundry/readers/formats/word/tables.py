"""Rows and cells of Word tables."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.parts import number
from foundry.readers.formats.word.names import PARAGRAPH, TABLE, VAL, W

MAX_COLUMNS = 200


def rows_of(table: Element) -> Iterator[Element]:
    """Yield the rows of a table, including those in controls and revisions."""
    for element in table:
        if element.tag == f"{W}tr":
            yield element
        elif element.tag in _WRAPPERS:
            yield from rows_of(element)


def cells_of(row: Element) -> Iterator[Element]:
    """Yield the cells of a row, including those in controls and revisions."""
    for element in row:
        if element.tag == f"{W}tc":
            yield element
        elif element.tag in _WRAPPERS:
            yield from cells_of(element)


_WRAPPERS = frozenset({f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins", f"{W}moveTo"})


def is_layout(cell: Element) -> bool:
    """Return whether a cell contains several blocks or a table."""
    blocks = [each for each in cell if each.tag in {PARAGRAPH, TABLE}]
    return len(blocks) > 1 or (bool(blocks) and blocks[0].tag == TABLE)


def merging(cell: Element) -> tuple[int, bool | None]:
    """Return how many columns a cell spans, and whether it continues from the row above.

    The latter is None for a cell of one row.
    """
    properties = cell.find(f"{W}tcPr")
    if properties is None:
        return 1, None
    span, is_below = 1, None
    for each in properties:
        if each.tag == f"{W}gridSpan":
            span = min(max(number(each.get(VAL), 1), 1), MAX_COLUMNS)
        elif each.tag == f"{W}vMerge":
            is_below = each.get(VAL, "continue") != "restart"
    return span, is_below


def columns_before(properties: Element | None) -> int:
    """Return how many columns a row skips at its beginning."""
    found = None if properties is None else properties.find(f"{W}gridBefore")
    return 0 if found is None else min(number(found.get(VAL)), MAX_COLUMNS)
