"""Adds what a drawing embeds: charts, diagrams, and Office files (OLE objects)."""

import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import replace
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.office.alternatives import EMBEDDED
from foundry.readers.formats.office.charts import add_chart
from foundry.readers.formats.office.diagrams import diagram_lines
from foundry.readers.formats.office.parts import RELATIONSHIPS, Parts, Relation
from foundry.readers.notes import leave_out, note_damage, note_source
from foundry.readers.sniffing import document_kind

OBJECT = "{urn:schemas-microsoft-com:office:office}OLEObject"
_OBJECTS = {OBJECT, "{http://schemas.openxmlformats.org/presentationml/2006/main}oleObj"}
MAX_DEPTH = 3
"""Maximum depth of files embedded in embedded files."""
_DEPTH: ContextVar[int] = ContextVar("depth", default=0)
_FILES = frozenset(("package", "oleObject"))
_PICTURE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]+\)")


def add_embedded(
    composer: Composer, drawing: Element, parts: Parts, relations: Mapping[str, Relation]
) -> None:
    """Add everything embedded in a drawing; `relations` are those of the drawing's part."""
    for relation in dict.fromkeys(_embedded(drawing, relations)):
        if relation.kind in _FILES:
            add_object(composer, parts, relation)
            continue
        root = parts.xml(relation.target)
        if root is None:
            continue
        if relation.kind == "diagramData":
            composer.text("\n".join(diagram_lines(root)))
        else:
            add_chart(composer, root)


def _embedded(drawing: Element, relations: Mapping[str, Relation]) -> Iterator[Relation]:
    """Yield the relation of each embedded part; alternatives may repeat one."""
    for each in drawing.iter():
        names = ("dm", "id") if each.tag in EMBEDDED else ("id",) if each.tag in _OBJECTS else ()
        found = (relations.get(each.get(f"{RELATIONSHIPS}{name}", "")) for name in names)
        relation = next(filter(None, found), None)
        if relation and not relation.is_external:
            yield relation


def add_object(composer: Composer, parts: Parts, relation: Relation) -> None:
    """Add the text of an embedded workbook, document or deck; its headings become lines.

    Other objects, such as those of the equation editor, only have their picture and its
    description.
    """
    content = parts.read(relation.target)
    reader = None if content is None else _reader_of(document_kind(content))
    if reader is None or content is None or reader.texts is None:
        return
    texts = list(reader.texts(content))
    for text in texts:
        note_source(text)
    depth = _DEPTH.get()
    if depth >= MAX_DEPTH:
        leave_out(Omission.TOO_LONG, "\n".join(texts), relation.target)
        return
    token = _DEPTH.set(depth + 1)
    try:
        composer.include(_without_outline(reader.read(content)))
    except UnreadableError:
        note_damage(relation.target)
    finally:
        _DEPTH.reset(token)


def _reader_of(kind: str | None) -> FileReader | None:
    # Imported when needed: the readers of these formats import this module.
    if kind == "Excel":
        from foundry.readers.formats.sheets import workbook

        return workbook.READER
    if kind == "Word":
        from foundry.readers.formats.word import reader as word

        return word.READER
    if kind == "PowerPoint":
        from foundry.readers.formats.slides import reader as slides

        return slides.READER
    return None


def _without_outline(reading: Reading) -> Reading:
    """Return a reading whose headings are lines, and whose pictures only have a description.

    Both keep their length, so that offsets remain valid. File names are dropped, since they would
    refer to parts of the outer document.
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
