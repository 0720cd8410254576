"""References to the cells of a sheet, such as `$B$7`."""

import re

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})$")


def number_of_column(letters: str) -> int:
    """Return a column's number from 0, given its letters; -1 if they are invalid."""
    if not letters.isascii() or not letters.isalpha() or len(letters) > 3:
        return -1
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - 64
    return column - 1


def parse_reference(reference: str) -> tuple[int, int] | None:
    """Return the row (from 1) and column (from 0) of a cell reference; None if it is invalid."""
    found = _REFERENCE.match(reference)
    return (int(found[2]), number_of_column(found[1])) if found else None
