"""Writes the pictures in Office and OpenDocument files as Markdown, by the names of their files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.readers.composing import describe_pictures
from foundry.readers.formats.office.parts import RELATIONSHIPS, Relation
from foundry.readers.formats.pages.blocks import picture

_SHOWN = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp")
"""Formats that browsers show; pictures in others, such as .emf, need a description."""
_NAMED = {
    "{http://schemas.openxmlformats.org/drawingml/2006/main}blip": f"{RELATIONSHIPS}embed",
    "{urn:schemas-microsoft-com:vml}imagedata": f"{RELATIONSHIPS}id",
}
"""Elements that show a picture, with the attribute that names its relationship."""
_WORD = re.compile(r"\w")


def write_pictures(description: str, files: Iterable[str | None]) -> str:
    """Return the pictures of a drawing, the first with the description.

    Without a picture that can be named, only the description is returned. Folders are left out,
    since servers find the files by name.
    """
    names = [file.rpartition("/")[2] for file in files if file]
    shown = [name for name in dict.fromkeys(names) if name.lower().endswith(_SHOWN)]
    if not shown and description.strip():
        shown = names[:1]
    first, *others = shown or [""]
    written = [picture(description, first) or description, *(picture("", each) for each in others)]
    return " ".join(filter(None, written))


def describe(shape: Element, attribute: str = "descr") -> str:
    """Return the title and the description of a shape, on separate lines."""
    texts = (shape.get(name, "").strip() for name in ("title", attribute))
    return "\n".join(dict.fromkeys(filter(None, texts)))


def picture_files(drawing: Element, relations: Mapping[str, Relation]) -> Iterator[str]:
    """Yield the names of the package parts that contain the pictures of a drawing."""
    for each in drawing.iter():
        relation = relations.get(each.get(_NAMED.get(each.tag, ""), ""))
        if relation and not relation.is_external:
            yield relation.target


def drop_lone_pictures(reading: Reading) -> Reading:
    """Return a reading without text if it only consists of pictures without a description."""
    has_words = "![" not in reading.text or _WORD.search(describe_pictures(reading.text))
    return reading if has_words else replace(reading, text="", headings=(), blocks=(), pages=())
