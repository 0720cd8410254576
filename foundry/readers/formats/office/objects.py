"""Reads the Office documents that are embedded in others as objects (OLE packages)."""

import re
from collections.abc import Callable
from dataclasses import replace

from foundry.documents import Reading
from foundry.readers.composing import Composer
from foundry.readers.contract import UnreadableError
from foundry.readers.formats.office.parts import Parts, Relation
from foundry.readers.notes import note_damage
from foundry.readers.sniffing import document_kind

_PICTURE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]+\)")


def add_object(composer: Composer, parts: Parts, relation: Relation | None) -> None:
    """Add the text of an embedded workbook, document or deck; its headings become lines.

    Other objects, such as those of the equation editor, only have their picture and its
    description.
    """
    content = parts.read(relation.target) if relation and not relation.is_external else None
    read = None if content is None else _reader_of(document_kind(content))
    if read is None or content is None or relation is None:
        return
    try:
        reading = read(content)
    except UnreadableError:
        note_damage(relation.target)
        return
    composer.include(_without_outline(reading))


def _reader_of(kind: str | None) -> Callable[[bytes], Reading] | None:
    # Imported when needed: the readers of these formats import this module.
    if kind == "Excel":
        from foundry.readers.formats.sheets import workbook

        return workbook.read
    if kind == "Word":
        from foundry.readers.formats.word import reader as word

        return word.read
    if kind == "PowerPoint":
        from foundry.readers.formats.slides import reader as slides

        return slides.read
    return None


def _without_outline(reading: Reading) -> Reading:
    """Return a reading whose headings are lines, and whose pictures only have a description.

    Both keep their length, so that offsets stay. Names of files belong to the outer document.
    """
    parts, position = [], 0
    for each in reading.headings:
        width = each.end - each.start
        parts += [reading.text[position : each.start], f"{each.text}:".ljust(width)[:width]]
        position = each.end
    text = "".join([*parts, reading.text[position:]])
    return replace(reading, text=_PICTURE.sub(_without_file, text), headings=())


def _without_file(found: re.Match[str]) -> str:
    return (f"![{found[1]}]()" if found[1] else "").ljust(len(found[0]))
