"""Delimited text (.csv, .tsv): one table, its first row the header."""

import csv
import io

from foundry.readers.composing import Composer
from foundry.readers.contract import Reader
from foundry.records import Reading

MAX_ROWS = 1_000_000
MAX_CELL_CHARS = 131_072  # More is a quote without its partner, not a cell.
_DELIMITERS = ",;\t|"


def read(text: str) -> Reading:
    """Read a table's rows; the delimiter is what stands most often in the first line.

    What is no table (one column, a cell without an end) is read as it was written.
    """
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter, strict=True):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > MAX_ROWS or max(map(len, row), default=0) > MAX_CELL_CHARS:
                return Reading(text=text)
    except csv.Error:
        return Reading(text=text)
    if len(rows) < 2 or len(rows[0]) < 2:
        return Reading(text=text)
    composer = Composer()
    composer.table(rows)
    return composer.finish()


READER = Reader("delimited/1", {".csv": "text/csv", ".tsv": "text/tab-separated-values"}, read)
