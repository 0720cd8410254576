"""Numbers of list items for which an RTF document stores no text.

Most programs store each number as text (`\\listtext`, `\\pntext`), and it is read from there.
"""

from dataclasses import dataclass, field, replace

from foundry.readers.formats.office.numerals import numeral
from foundry.readers.formats.office.symbols import BULLET

MAX_LEVELS = 9
_FORMATS = {
    **{0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter"},
    **{5: "ordinal", 22: "decimalZero", 23: "bullet", 255: "none"},
}
_OLD_FORMATS = {
    **{"pndec": "decimal", "pnucrm": "upperRoman", "pnlcrm": "lowerRoman", "pnord": "ordinal"},
    **{"pnucltr": "upperLetter", "pnlcltr": "lowerLetter", "pnlvlblt": "bullet"},
}
LISTS = frozenset("list listlevel listoverride lfolevel levelnfc levelnfcn levelstartat".split())
"""Control words that define lists."""
OLD_LISTS = frozenset({*_OLD_FORMATS, "pnstart"})
"""Control words that define the number of the next paragraphs, in RTF before Word 97."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a list; the characters 0 to 8 in `text` stand for the numbers of these levels."""

    format: str = "decimal"
    start: int = 1
    text: str = ""


@dataclass(slots=True)
class _List:
    levels: list[Level] = field(default_factory=list)
    counts: list[int | None] = field(default_factory=lambda: [None] * MAX_LEVELS)


class Numbering:
    """The lists of a document; numbers its paragraphs in order."""

    def __init__(self) -> None:
        self.old = Level()
        self._lists: dict[int, _List] = {}
        self._of_override: dict[int, _List] = {}
        self._list = _List()
        self._override: int | None = None
        self._old_before: Level | None = None
        self._old_count = 0

    def define(self, word: str, number: int | None) -> None:
        """Read a control word of LISTS."""
        if word == "list":
            self._list, self._override = _List(), None
        elif word == "listoverride":
            self._list, self._override = _List(), 0
        elif word in {"listlevel", "lfolevel"}:
            if len(self._list.levels) < MAX_LEVELS and self._override is None:
                self._list.levels.append(Level())
        elif self._list.levels and self._override is None:
            level = self._list.levels[-1]
            if word == "levelstartat":
                self._list.levels[-1] = replace(level, start=number or 0)
            else:
                kind = _FORMATS.get(number or 0, "decimal")
                self._list.levels[-1] = replace(level, format=kind)

    def define_text(self, text: str) -> None:
        """Set the text of the last level.

        Its first character is its length; the others are text, or numbers of levels.
        """
        if text and self._list.levels:
            shown = text[1 : 1 + ord(text[0])]
            self._list.levels[-1] = replace(self._list.levels[-1], text=shown)

    def name_list(self, number: int) -> None:
        """Give the list being defined this id, or select the list with this id for an override."""
        if self._override is None:
            self._lists.setdefault(number, self._list)
        else:
            self._list = self._lists.get(number, _List())

    def name_override(self, number: int) -> None:
        """Name the override by the number that paragraphs use."""
        self._of_override.setdefault(number, self._list)

    def define_old(self, word: str, number: int | None) -> None:
        """Read a control word of OLD_LISTS."""
        if word == "pnstart":
            self.old = replace(self.old, start=number or 0)
        else:
            self.old = replace(self.old, format=_OLD_FORMATS[word])

    def label(self, number: int, level: int) -> str:
        """Count a paragraph of a list, and return its label; "" if the list is not defined."""
        found = self._of_override.get(number)
        if found is None or not 0 <= level < len(found.levels):
            return ""
        before = found.counts[level]
        found.counts[level] = found.levels[level].start if before is None else before + 1
        found.counts[level + 1 :] = [None] * (MAX_LEVELS - level - 1)
        if found.levels[level].format == "bullet":
            return BULLET
        text = found.levels[level].text
        return "".join(_count(found, ord(sign)) if sign < "\t" else sign for sign in text)

    def label_old(self, level: Level | None) -> str:
        """Return the label of a counted paragraph; one without an old definition ends the count."""
        if level is None or level != self._old_before:
            self._old_count = 0 if level is None else level.start - 1
        self._old_before = level
        if level is None or level.format == "bullet":
            return "" if level is None else BULLET
        self._old_count += 1
        return level.text.replace("\0", numeral(self._old_count, level.format))


def _count(of: _List, level: int) -> str:
    if level >= len(of.levels):
        return ""
    count = of.counts[level]
    return numeral(of.levels[level].start if count is None else count, of.levels[level].format)
