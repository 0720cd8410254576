"""Positions of the shapes on a slide or a drawing."""

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.reading_order import Place, by_rows
from foundry.readers.formats.opendocument.names import DRAW, SVG

_EMU = {"cm": 360_000, "mm": 36_000, "in": 914_400, "pt": 12_700, "pc": 152_400, "px": 9_525}
_LENGTH = re.compile(r"(-?\d{1,6}(?:\.\d{1,9})?)(cm|mm|in|pt|pc|px)")
_MOVED = re.compile(r"translate\s*\(\s*([^\s,)]+)[\s,]+([^\s,)]+)\s*\)")


def in_reading_order(elements: Iterable[Element]) -> list[Element]:
    """Return elements with the shapes in reading order, before the others.

    If a shape has no position, the order does not change.
    """
    each_one = list(elements)
    placed: list[tuple[Place, Element]] = []
    others: list[Element] = []
    for each in each_one:
        if not each.tag.startswith(DRAW):
            others.append(each)
        elif place := _place(each):
            placed.append((place, each))
        else:
            return each_one
    return [*by_rows(placed), *others]


def _place(shape: Element) -> Place | None:
    if shape.tag == f"{DRAW}g":
        places = [place for each in shape if (place := _place(each))]
        return (min(top for top, _ in places), min(left for _, left in places)) if places else None
    moved = _MOVED.search(shape.get(f"{DRAW}transform", ""))
    left = moved[1] if moved else shape.get(f"{SVG}x") or shape.get(f"{SVG}x1")
    top = moved[2] if moved else shape.get(f"{SVG}y") or shape.get(f"{SVG}y1")
    across, down = _LENGTH.fullmatch(left or ""), _LENGTH.fullmatch(top or "")
    if across is None or down is None:
        return None
    return int(float(down[1]) * _EMU[down[2]]), int(float(across[1]) * _EMU[across[2]])
