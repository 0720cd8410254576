"""Words that readers leave out of documents on purpose, with reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Omission(StrEnum):
    """The reason for leaving words out; the values are used in reports."""

    ATTRIBUTE = "attribute"  # in a value that is not shown: a class, a label, an option
    BINARY = "binary"  # bytes written as letters, such as an embedded picture
    COLUMN = "column"  # of a table, not named in foundry.toml
    COMMENT = "comment"
    DUPLICATE = "duplicate"  # repeated elsewhere: a table of contents, an alternative part
    FORM = "form"  # a control: buttons, menus, fields
    HIDDEN = "hidden"
    ILLEGIBLE = "illegible"  # glyphs without a known character
    MACRO = "macro"  # a markup command without words of its own
    METADATA = "metadata"  # read as title, date, tags or language
    NAVIGATION = "navigation"
    RUNNING_LINE = "running line"  # headers and footers of pages
    SCRIPT = "script"
    TOO_LONG = "too long"  # beyond a limit of its reader


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Words that were left out, and their place, if the format has places.

    `place` is for people: `line 12`, `page 3`, `word/footer1.xml`.
    """

    reason: Omission
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts of a document's words; `source` is the sum of all other counts.

    `left_out` counts by reason; `unaccounted` words were lost without a reason.
    """

    source: int
    read: int
    left_out: Mapping[str, int]
    unaccounted: int
