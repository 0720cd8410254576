"""Styles of a Word document: headings, code, hidden text, and numbered text."""

import re
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.headings import level_of_style
from foundry.readers.formats.office.parts import number
from foundry.readers.formats.word.names import VAL, W, is_on

_CODE = re.compile(r"source ?code|html preformatted|preformatted text|code(?: block)?$")
_DEEPER = re.compile(r"list (?:bullet|number) ([2-5])$")
_TITLE = re.compile(r"(?<!sub)title|heading")
STRUCK = frozenset({f"{W}strike", f"{W}dstrike"})
BODY_LEVEL = 9
"""The outline level of paragraphs that are not headings."""


@dataclass(slots=True)
class Style:
    """The properties that a style gives a paragraph or a run, including inherited ones.

    `heading` is 0 for text; `numbering` an id and a level; `script` super, sub or struck.
    `depth` is the number of lists around an item in Word's styles such as "List Bullet 2".
    """

    heading: int = 0
    is_code: bool = False
    is_hidden: bool = False
    is_contents: bool = False
    numbering: tuple[int, int] | None = None
    depth: int = 0
    script: str = ""
    font: str = ""


PLAIN = Style()


class Styles:
    """The styles of a document by their id."""

    def __init__(self, root: Element | None) -> None:
        self._elements = {
            each.get(f"{W}styleId", ""): each
            for each in (() if root is None else root.iter(f"{W}style"))
        }
        self._known: dict[str, Style] = {}
        defaults = (
            name
            for name, each in self._elements.items()
            if each.get(f"{W}type") == "paragraph" and is_on(each.get(f"{W}default", "0"))
        )
        self._default = next(defaults, "")

    def get(self, name: str | None) -> Style:
        """Return a style, or the default for a paragraph that names none."""
        name = self._default if name is None else name
        if name not in self._known:
            self._known[name] = self._resolve(name)
        return self._known[name]

    def _resolve(self, name: str) -> Style:
        style = Style()
        chain: list[Element] = []
        while (element := self._elements.get(name)) is not None and element not in chain:
            chain.append(element)
            name = _value(element, "basedOn") or ""
        if not chain:
            style.heading = level_of_style(name)
        for element in reversed(chain):
            _extend(style, element)
        if chain and _name_of(chain[0]) == "heading":
            # In Pages, this is the first level of headings; in LibreOffice, all headings are based
            # on it.
            style.heading = style.heading or 1
        if any(_name_of(each) == "title" for each in chain[1:]) and not _TITLE.search(
            _name_of(chain[0])
        ):
            # In Pandoc, the styles of subtitle, author and date are based on the style of the
            # title.
            style.heading = 0
        return style


def _extend(style: Style, element: Element) -> None:
    """Add a style's own properties to those that it inherits."""
    name = _name_of(element)
    style.heading = level_of_style(name) or style.heading
    style.is_code = style.is_code or _CODE.match(name) is not None
    if deeper := _DEEPER.match(name):
        style.depth = int(deeper[1]) - 1
    style.is_contents = style.is_contents or bool(re.match(r"toc \d|table of figures", name))
    outline = element.find(f"{W}pPr/{W}outlineLvl")
    if outline is not None:
        level = number(outline.get(VAL), BODY_LEVEL)
        style.heading = level + 1 if level < BODY_LEVEL else 0
    numbered = element.find(f"{W}pPr/{W}numPr")
    if numbered is not None:
        before = style.numbering or (0, 0)
        style.numbering = (
            number(_value(numbered, "numId"), before[0]),
            number(_value(numbered, "ilvl"), before[1]),
        )
    for each in element.find(f"{W}rPr") or ():
        if each.tag == f"{W}vanish":
            style.is_hidden = is_on(each.get(VAL))
        elif each.tag == f"{W}vertAlign":
            style.script = each.get(VAL, "").removesuffix("script").replace("baseline", "")
        elif each.tag in STRUCK:
            style.script = style.script or ("struck" if is_on(each.get(VAL)) else "")
        elif each.tag == f"{W}rFonts":
            style.font = each.get(f"{W}ascii", style.font)


def _name_of(element: Element) -> str:
    return (_value(element, "name") or element.get(f"{W}styleId") or "").lower()


def _value(parent: Element, name: str) -> str | None:
    found = parent.find(f"{W}{name}")
    return None if found is None else found.get(VAL)
