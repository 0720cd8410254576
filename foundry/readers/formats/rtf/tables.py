"""Tables of RTF: rows whose cells have right edges in twips."""

from bisect import bisect_left
from dataclasses import dataclass, field

from foundry.readers.formats.office.merging import Merged, unmerge

NEAR = 30
"""Edges closer than this, in twips, are equal."""


@dataclass(slots=True)
class CellShape:
    """A cell's right edge, and whether it is merged with the previous cell or the one above."""

    edge: int
    is_right: bool = False
    is_below: bool = False


@dataclass(slots=True)
class Table:
    """Rows as read: cell texts with the shapes defined for them."""

    rows: list[tuple[list[str], list[CellShape]]] = field(default_factory=list)

    def fill(self) -> list[list[str]]:
        """Return the rows with merged cells filled, with the header first."""
        edges = self._edges()
        texts: list[list[str]] = []
        merged: list[Merged] = []
        above: dict[int, int] = {}
        for line, (cells, shapes) in enumerate(self.rows):
            row = [""] * max(len(edges), len(cells))
            column = 0
            for place, text in enumerate(cells):
                shape = shapes[place] if place < len(shapes) else None
                end = column + 1 if shape is None else bisect_left(edges, shape.edge - NEAR) + 1
                end = max(end, column + 1)
                if column >= len(row):
                    row += [""] * (column + 1 - len(row))
                row[column] = text
                if shape is not None and shape.is_right and column:
                    end = self._widen(merged, above, line, end)
                elif shape is not None and shape.is_below and column in above:
                    lines, columns = merged[above[column]]
                    merged[above[column]] = (range(lines.start, line + 1), columns)
                else:
                    merged.append((range(line, line + 1), range(column, end)))
                    above[column] = len(merged) - 1
                column = end
            texts.append(row)
        return unmerge(texts, [one for one in merged if len(one[0]) > 1 or len(one[1]) > 1])

    @staticmethod
    def _widen(merged: list[Merged], above: dict[int, int], line: int, end: int) -> int:
        """Extend the last cell to another edge."""
        lines, columns = merged[-1]
        if lines.start == line:
            merged[-1] = (lines, range(columns.start, end))
        above.pop(end - 1, None)
        return end

    def _edges(self) -> list[int]:
        edges: list[int] = []
        for edge in sorted({shape.edge for _, shapes in self.rows for shape in shapes}):
            if not edges or edge - edges[-1] > NEAR:
                edges.append(edge)
        return edges
