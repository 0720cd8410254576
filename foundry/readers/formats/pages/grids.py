"""Finds tables that consist of other elements than `table`."""

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from foundry.readers.formats.pages.tree import Attributes, children

_TABLES = frozenset(("table", "grid", "treegrid"))
_HEADS = frozenset(("columnheader", "rowheader"))
_CELLS = _HEADS | {"cell", "gridcell"}
_JAVADOC, _JAVADOC_HEAD = "summary-table", "table-header"


def find_rows(node: LexborNode, attributes: Attributes) -> list[list[LexborNode]]:
    """Return the rows of an element with the role of a table, or of a Javadoc summary.

    Returns [] for other elements.
    """
    if attributes.get("role") in _TABLES:
        return [cells for row in _with_role(node, {"row"}) if (cells := [*_with_role(row, _CELLS)])]
    if _JAVADOC not in (attributes.get("class") or "").split():
        return []
    cells = [child for child in children(node) if child.is_element_node]
    width = sum(map(is_head, cells))
    return [cells[begin : begin + width] for begin in range(0, len(cells), width)] if width else []


def is_head(cell: LexborNode) -> bool:
    """Return whether a cell of such a table belongs to its header."""
    classes = (cell.attributes.get("class") or "").split()
    return cell.attributes.get("role") in _HEADS or _JAVADOC_HEAD in classes


def _with_role(node: LexborNode, roles: frozenset[str] | set[str]) -> Iterator[LexborNode]:
    """Yield the outermost elements with one of these roles."""
    for child in children(node):
        if child.is_element_node and child.attributes.get("role") in roles:
            yield child
        elif child.is_element_node:
            yield from _with_role(child, roles)
