"""The rows of an Excel sheet, and the areas and links that name its cells."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from foundry.readers.formats.office.grids import DeclaredTable, Grid, parse_reference
from foundry.readers.formats.office.merging import Merged


@dataclass(slots=True)
class Sheet:
    """The visible rows of a sheet, by number from 1, with merged cells and links.

    `links` maps cells to relationship ids ("" for links inside the workbook); `tables` has the
    areas of declared tables, with column names if no row has them; `prompts` are shown beside the
    cell in which somebody writes.
    """

    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    areas: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    tables: list[tuple[str, list[str]]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def grid(self) -> Grid:
        """Return the cells, with enough empty rows to keep tables separate."""
        rows: list[list[str]] = []
        places: list[int] = []
        last = 0
        for number, row in zip(self.numbers, self.rows, strict=True):
            rows += [[] for _ in range(min(number - last - 1, 2))] if rows else []
            places.append(len(rows))
            rows.append(row)
            last = number
        merged = [one for area in self.areas if (one := self._area(area, places))]
        declared = [
            DeclaredTable(*one, names)
            for area, names in self.tables
            if (one := self._area(area, places))
        ]
        return Grid(rows, merged, declared)

    def _area(self, area: str, places: list[int]) -> Merged | None:
        first, _, last = area.partition(":")
        begin, end = parse_reference(first), parse_reference(last or first)
        if begin is None or end is None:
            return None
        low, high = bisect_left(self.numbers, begin[0]), bisect_right(self.numbers, end[0])
        if low >= high or self.numbers[low] != begin[0]:
            return None
        return range(places[low], places[high - 1] + 1), range(begin[1], end[1] + 1)

    def cell(self, reference: str) -> tuple[list[str], int] | None:
        """Return the row of a cell, and its column; None if it is hidden or not in the sheet."""
        found = parse_reference(reference.partition(":")[0])
        if found is None:
            return None
        place = bisect_left(self.numbers, found[0])
        is_there = place < len(self.numbers) and self.numbers[place] == found[0]
        return (
            (self.rows[place], found[1]) if is_there and found[1] < len(self.rows[place]) else None
        )
