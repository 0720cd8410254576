"""Numbers of list items and headings, counted like Word does (ECMA-376, 17.9)."""

import re
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.numerals import numeral
from foundry.readers.formats.office.parts import number
from foundry.readers.formats.office.symbols import bullet
from foundry.readers.formats.word.names import VAL, W, is_on

MAX_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    restarts: bool = True
    is_legal: bool = False
    font: str = ""


@dataclass(slots=True)
class _List:
    """A numbering definition with its levels, and the current number of each level."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: list[int | None] = field(default_factory=lambda: [None] * MAX_LEVELS)


class Numbering:
    """Labels the numbered paragraphs, in document order."""

    def __init__(self, root: Element | None) -> None:
        self._lists: dict[int, _List] = {}
        self._of_number: dict[int, _List] = {}
        self._overridden: dict[tuple[int, int], _Level] = {}
        self._starts: dict[tuple[int, int], int] = {}
        if root is None:
            return
        abstract = {number(each.get(f"{W}abstractNumId")): each for each in root.iter(_ABSTRACT)}
        linked = {
            link.get(VAL): each
            for each in abstract.values()
            if (link := each.find(f"{W}styleLink")) is not None
        }
        for each in root.iter(f"{W}num"):
            named = each.find(f"{W}abstractNumId")
            key = number(None if named is None else named.get(VAL), -1)
            definition = abstract.get(key)
            if definition is None:
                continue
            link = definition.find(f"{W}numStyleLink")
            if link is not None:
                definition = linked.get(link.get(VAL), definition)
            kept = self._lists.setdefault(
                number(definition.get(f"{W}abstractNumId")), _List(dict(_levels(definition)))
            )
            self._add(number(each.get(f"{W}numId")), kept, each)

    def _add(self, num: int, kept: _List, element: Element) -> None:
        self._of_number[num] = kept
        for override in element.iter(f"{W}lvlOverride"):
            level = number(override.get(f"{W}ilvl"))
            for _, changed in _levels(override):
                self._overridden[num, level] = changed
                self._starts[num, level] = changed.start
            start = override.find(f"{W}startOverride")
            if start is not None:
                self._starts[num, level] = number(start.get(VAL), 1)

    def label(self, num: int, level: int) -> str:
        """Count a paragraph and return its label: `3.`, `(b)`, a bullet; "" for none."""
        kept = self._of_number.get(num)
        if kept is None or not 0 <= level < MAX_LEVELS:
            return ""
        shown = self._level(num, level)
        restarted = self._starts.pop((num, level), None)
        before = kept.counts[level]
        if restarted is not None:
            kept.counts[level] = restarted
        else:
            kept.counts[level] = shown.start if before is None else before + 1
        for deeper in range(level + 1, MAX_LEVELS):
            if self._level(num, deeper).restarts:
                kept.counts[deeper] = None
        if shown.format == "bullet":
            # A blank bullet marks a paragraph that belongs to the previous item.
            return "" if shown.text.isspace() else bullet(shown.text, shown.font)
        return _PLACE.sub(
            lambda found: self._count(num, kept, shown, int(found[1]) - 1), shown.text
        )

    def _count(self, num: int, kept: _List, shown: _Level, level: int) -> str:
        of = self._level(num, level)
        count = kept.counts[level]
        return numeral(
            of.start if count is None else count, "decimal" if shown.is_legal else of.format
        )

    def _level(self, num: int, level: int) -> _Level:
        return self._overridden.get((num, level)) or self._of_number[num].levels.get(
            level, _Level()
        )


_ABSTRACT = f"{W}abstractNum"


def _levels(parent: Element) -> list[tuple[int, _Level]]:
    found = []
    for element in parent.iter(f"{W}lvl"):
        values = {each.tag: each.get(VAL) for each in element}
        # Word puts formats that older versions do not know into alternatives.
        formats = [each.get(VAL, "decimal") for each in element.iter(f"{W}numFmt")]
        fonts = element.find(f"{W}rPr/{W}rFonts")
        level = _Level(
            number(values.get(f"{W}start"), 0 if f"{W}start" not in values else 1),
            formats[-1] if formats else "decimal",
            values.get(f"{W}lvlText") or "",
            values.get(f"{W}lvlRestart") != "0",
            f"{W}isLgl" in values and is_on(values[f"{W}isLgl"]),
            "" if fonts is None else fonts.get(f"{W}ascii", ""),
        )
        found.append((number(element.get(f"{W}ilvl")), level))
    return found
