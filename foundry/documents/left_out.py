"""What a reader has left out of a document on purpose, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Omission(StrEnum):
    """Why words of a document are not in its text; the values stand in reports."""

    ATTRIBUTE = "attribute"  # in a value that people do not see: a class, a label, an option
    BINARY = "binary"  # bytes that are written as letters, such as an embedded picture
    COMMENT = "comment"
    DUPLICATE = "duplicate"  # said once already: a table of contents, an alternative part
    FORM = "form"  # a control that people fill in: buttons, menus, fields
    HIDDEN = "hidden"
    ILLEGIBLE = "illegible"  # glyphs that no character is known of
    MACRO = "macro"  # a command of the markup that stands for no words of its own
    METADATA = "metadata"  # read as title, date, tags or language
    NAVIGATION = "navigation"
    RUNNING_LINE = "running line"  # headers and footers that pages repeat
    SCRIPT = "script"
    TOO_LONG = "too long"  # behind the limit of what is read of one output or attachment


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Words that were left out: their text, and where they stood, if the format can tell.

    `place` is for people: `line 12`, `page 3`, `word/footer1.xml`.
    """

    reason: Omission
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class WordCounts:
    """What became of the words of a document: `source` is the sum of the others.

    `left_out` counts them by reason; `unaccounted` are in no text, and nobody has said why.
    """

    source: int
    read: int
    left_out: Mapping[str, int]
    unaccounted: int
