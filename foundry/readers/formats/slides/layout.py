"""Positions of shapes on a slide, and their reading order."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.alternatives import choose
from foundry.readers.formats.office.parts import ALTERNATIVES, Parts
from foundry.readers.formats.office.reading_order import Place, by_rows
from foundry.readers.formats.slides.texts import A

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
SHAPES = frozenset(f"{P}{name}" for name in ("sp", "grpSp", "graphicFrame", "pic", "cxnSp"))
MAX_GROUPS = 20


class Layouts:
    """Positions of placeholders that a slide inherits from its layout or slide master."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._places: dict[str, dict[str, Place]] = {}
        self._own: dict[str, list[Element]] = {}

    def of(self, part: str) -> dict[str, Place]:
        """Return the positions of a part's own placeholders and of those that it inherits."""
        if part not in self._places:
            self._places[part] = {}
            behind = self._parts.related(part, "slideLayout") or self._parts.related(
                part, "slideMaster"
            )
            places = dict(self.of(behind)) if behind else {}
            root = self._parts.xml(part)
            for shape in () if root is None else root.iter(f"{P}sp"):
                place, names = own_place(shape), placeholder_names(shape)
                if place:
                    places.update(dict.fromkeys(names, place))
            self._places[part] = places
            self._own[part] = [] if root is None else [*_static(root)]
        return self._places[part]

    def static_shapes(self, part: str) -> list[Element]:
        """Return a layout's shapes other than placeholders, which every slide shows."""
        self.of(part)
        return self._own[part]


def _static(root: Element) -> Iterator[Element]:
    for shape in root.iter(f"{P}sp"):
        if not placeholder_names(shape):
            yield shape


def placeholder_names(shape: Element) -> list[str]:
    """Return the keys by which layouts identify a placeholder: its index and its type."""
    found = shape.find(f".//{P}nvPr/{P}ph")
    if found is None:
        return []
    return [f"#{found.get('idx', '0')}", placeholder_kind(shape)]


def placeholder_kind(shape: Element) -> str:
    """Return the kind of a placeholder; "" for other shapes."""
    found = shape.find(f".//{P}nvPr/{P}ph")
    return "" if found is None else found.get("type", "obj")


def own_place(shape: Element) -> Place | None:
    """Return the position that a shape itself specifies, if it does."""
    for path in (f"{P}spPr/{A}xfrm/{A}off", f"{P}xfrm/{A}off", f"{P}grpSpPr/{A}xfrm/{A}off"):
        found = shape.find(path)
        if found is not None:
            return _emu(found.get("y")), _emu(found.get("x"))
    return None


def in_reading_order(
    tree: Element, places: dict[str, Place], part: str, depth: int = 0
) -> Iterator[Element]:
    """Yield shapes from top to bottom and left to right; a group's shapes stay together."""
    placed = [(_place(shape, places), shape) for shape in _shapes(tree, part)]
    for shape in by_rows(placed):
        if shape.tag == f"{P}grpSp" and depth < MAX_GROUPS:
            yield from in_reading_order(shape, places, part, depth + 1)
        else:
            yield shape


def _shapes(tree: Element, part: str) -> Iterator[Element]:
    for element in tree:
        if element.tag == ALTERNATIVES:
            yield from _shapes(choose(element, part), part)
        elif element.tag in SHAPES:
            yield element


def _place(shape: Element, places: dict[str, Place]) -> Place:
    own = own_place(shape)
    if own is not None:
        return own
    known = (places.get(name) for name in placeholder_names(shape))
    return next(filter(None, known), (0, 0))


def _emu(written: str | None) -> int:
    digits = (written or "").removeprefix("-")
    return int(written or 0) if digits.isdecimal() and len(digits) < 12 else 0
