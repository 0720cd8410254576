"""Tables on a page of a PDF, from the places of its words and from its ruled lines.

A table that is ruled is the grid of its lines; of the words outside of grids, those in columns make
tables. The places of cells decide, so what is empty stays empty.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from foundry.readers.formats.pdf_cells import Rule, Table, Word
from foundry.readers.formats.pdf_columns import find_columns
from foundry.readers.formats.pdf_grids import fill_grid, find_grids

MAX_WORDS = 8_000
MAX_RULES = 4_000


def find_tables(words: Sequence[Word], rules: Sequence[Rule]) -> list[Table]:
    """Return a page's tables; none of them shares a line with another."""
    if not 4 <= len(words) <= MAX_WORDS:
        return []
    tables: list[Table] = []
    for grid in find_grids(rules[:MAX_RULES]):
        table = fill_grid(grid, [word for word in words if grid.holds(word)])
        if table and all(table.lines.isdisjoint(other.lines) for other in tables):
            tables.append(table)
    taken = frozenset[int]().union(*(table.lines for table in tables))
    tables += find_columns([word for word in words if word.line not in taken])
    return [_without_shared_lines(table, words) for table in tables]


def _without_shared_lines(table: Table, words: Iterable[Word]) -> Table:
    """Return the table without the lines that go on beside it, which are rather said twice."""
    shared = {word.line for word in words if word not in table.words}
    return replace(table, lines=table.lines - shared)
