"""Reads rich values of Excel: pictures in cells, and data types such as stocks and places.

Such a cell contains an error, for older programs, and the number of its rich value.
"""

from collections.abc import Sequence
from typing import TypeVar
from xml.etree.ElementTree import Element

from foundry.readers.formats.office.parts import Parts, number
from foundry.readers.formats.pages.blocks import picture

T = TypeVar("T")


def rich_texts(parts: Parts) -> list[str | None]:
    """Return the shown text of each numbered rich value; None for those of unknown structure."""
    metadata = parts.related_xml(parts.main, "sheetMetadata")
    if metadata is None:
        return []
    keys = [[key.get("n", "") for key in each] for each in _children(parts, "rdRichValueStructure")]
    shown = [_shown(each, keys) for each in _children(parts, "rdRichValue")]
    blocks = metadata.iterfind("*[@name='XLRICHVALUE']//{*}rvb")
    values = [_item(shown, each.get("i")) for each in blocks]
    return [_item(values, each.get("v")) for each in metadata.iterfind("{*}valueMetadata//{*}rc")]


def _children(parts: Parts, kind: str) -> Sequence[Element]:
    root = parts.related_xml(parts.main, kind)
    return () if root is None else [*root]


def _shown(value: Element, keys: list[list[str]]) -> str | None:
    """Return a data type's name, or a picture in a cell as its description; None for others."""
    names = _item(keys, value.get("s")) or []
    named = dict(zip(names, ((each.text or "") for each in value), strict=False))
    if "_rvRel:LocalImageIdentifier" in named:
        return picture(named.get("Text", ""), "") or ""
    return named.get("_DisplayString")


def _item(items: Sequence[T], written: str | None) -> T | None:
    place = number(written, len(items))
    return items[place] if place < len(items) else None
