"""Styles of an OpenDocument: superscript, hidden, code, headings, and list numbering."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.headings import level_of_style
from foundry.readers.formats.office.numerals import numeral
from foundry.readers.formats.office.parts import number
from foundry.readers.formats.office.symbols import BULLET, bullet
from foundry.readers.formats.opendocument.names import STYLE, TABLE, TEXT

MAX_LEVELS = 10
_ESCAPED = re.compile(r"_([0-9a-f]{2,4})_")


@dataclass(slots=True)
class Style:
    """A resolved style; `script` is super, sub, struck or "", and `level` is 0 for text."""

    script: str = ""
    is_hidden: bool = False
    is_code: bool = False
    level: int = 0
    list_name: str = ""


@dataclass(frozen=True, slots=True)
class ListLevel:
    """The numbering of one level of a list; a bullet is in `prefix`."""

    format: str = ""
    prefix: str = ""
    suffix: str = ""
    start: int = 1
    shown_levels: int = 1


PLAIN = Style()


@dataclass(slots=True)
class Styles:
    """Styles by family and name; lists and master pages by name."""

    elements: dict[tuple[str, str], Element] = field(default_factory=dict)
    lists: dict[str, dict[int, ListLevel]] = field(default_factory=dict)
    outline: dict[int, ListLevel] = field(default_factory=dict)
    masters: dict[str, Element] = field(default_factory=dict)
    _known: dict[tuple[str, str], Style] = field(default_factory=dict)

    @classmethod
    def of(cls, roots: Iterable[Element | None]) -> "Styles":
        """Return the styles of a document's parts; later parts take precedence."""
        styles = cls()
        for root in roots:
            if root is None:
                continue
            for each in root.iter(f"{STYLE}style"):
                key = each.get(f"{STYLE}family", ""), each.get(f"{STYLE}name", "")
                styles.elements[key] = each
            for each in root.iter(f"{TEXT}list-style"):
                styles.lists[each.get(f"{STYLE}name", "")] = _levels(each)
            for each in root.iter(f"{TEXT}outline-style"):
                styles.outline = _levels(each)
            for each in root.iter(f"{STYLE}master-page"):
                styles.masters[each.get(f"{STYLE}name", "")] = each
        return styles

    def get(self, family: str, name: str | None) -> Style:
        """Return a style with the properties inherited from its parents."""
        if not name:
            return PLAIN
        key = family, name
        if key not in self._known:
            self._known[key] = self._resolve(family, name)
        return self._known[key]

    def _resolve(self, family: str, name: str) -> Style:
        chain: list[tuple[str, Element | None]] = []
        while name and len(chain) < 50:
            element = self.elements.get((family, name))
            chain.append((name, element))
            name = "" if element is None else element.get(f"{STYLE}parent-style-name", "")
        style = Style()
        for written, element in reversed(chain):
            # Names escape characters by code: `Heading_20_1`.
            named = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), written)
            style.is_code = style.is_code or named in {"Preformatted Text", "Source Code"}
            if family == "paragraph" and level_of_style(named):
                style.level = level_of_style(named)
            if element is not None:
                _extend(style, element)
        return style


def _extend(style: Style, element: Element) -> None:
    style.list_name = element.get(f"{STYLE}list-style-name", style.list_name)
    level = element.get(f"{STYLE}default-outline-level")
    if level is not None:
        style.level = int(level) if level.isdecimal() and len(level) < 3 else 0
    for properties in element:
        position = properties.get(f"{STYLE}text-position")
        if position:
            where, _, size = position.partition(" ")
            rise = where.rstrip("%")
            if where in {"super", "sub"}:
                style.script = where
            elif rise.lstrip("-").isdecimal() and size and size != "100%":
                style.script = "super" if int(rise) > 0 else "sub" if int(rise) < 0 else ""
            else:
                style.script = ""
        lines = [properties.get(f"{STYLE}text-line-through-{name}") for name in ("style", "type")]
        if any(lines):
            is_struck = any(each and each != "none" for each in lines)
            style.script = (
                (style.script or "struck") if is_struck else style.script.replace("struck", "")
            )
        shown = properties.get(f"{TEXT}display")
        if shown is not None:
            style.is_hidden = shown == "none"
        if properties.get(f"{TABLE}display") == "false":
            style.is_hidden = True


def _levels(element: Element) -> dict[int, ListLevel]:
    levels: dict[int, ListLevel] = {}
    for each in element:
        place = number(each.get(f"{TEXT}level"), 1)
        if "bullet" in each.tag or "image" in each.tag:
            levels[place] = ListLevel("bullet", each.get(f"{TEXT}bullet-char", ""))
        elif each.tag.startswith(TEXT):
            levels[place] = ListLevel(
                each.get(f"{STYLE}num-format", ""),
                each.get(f"{STYLE}num-prefix", ""),
                each.get(f"{STYLE}num-suffix", ""),
                number(each.get(f"{TEXT}start-value"), 1),
                number(each.get(f"{TEXT}display-levels"), 1),
            )
    return levels


class Counter:
    """Numbers the items of a list, or the headings of a document."""

    def __init__(self, levels: dict[int, ListLevel]) -> None:
        self.levels = levels
        self._counts: dict[int, int] = {}

    def label(self, level: int, start: int | None = None) -> str:
        """Number an item at a level from 1, optionally from a new start; return its label."""
        shown = self.levels.get(level)
        if shown is None:
            return BULLET
        first = shown.start if level not in self._counts else self._counts[level] + 1
        self._counts[level] = first if start is None else start
        for deeper in [each for each in self._counts if each > level]:
            del self._counts[deeper]
        if shown.format == "bullet":
            return bullet(shown.prefix)
        if not shown.format:
            return f"{shown.prefix}{shown.suffix}".strip()
        numbers = [
            numeral(self._counts.get(each, of.start), of.format)
            for each in range(max(level - shown.shown_levels + 1, 1), level + 1)
            if (of := self.levels.get(each)) and of.format not in {"", "bullet"}
        ]
        return f"{shown.prefix}{'.'.join(numbers)}{shown.suffix}".strip()
