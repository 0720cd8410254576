"""Text for terminals: tables, counted nouns, escaped control characters."""

from collections.abc import Sequence

from foundry.runtime.index.records import count_of as count_of
from foundry.runtime.index.tree import shown

MAX_LISTED = 50
"""Maximum number of lines of a list that are shown."""


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows of equal length: the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def list_briefly(lines: Sequence[str], most: int = MAX_LISTED) -> str:
    """Return the first lines, indented and printable, and how many more there are."""
    more = [f"and {len(lines) - most:,} more"] if len(lines) > most else []
    return "\n".join(f"  {printable(line)}" for line in (*lines[:most], *more))


def printable(line: str) -> str:
    """Escape every control character of a line except tabs."""
    return "\t".join(map(shown, line.split("\t")))
