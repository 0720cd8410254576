"""Reads Word documents as shown, with headings, lists, tables, notes and equations.

Foundry has its own reader, because libraries drop the text of fields, text boxes, revisions and
numbering, and take several times as long (see `benchmarks`).
"""

import re
from dataclasses import replace
from functools import partial
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.office import word_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.office.parts import RELATIONSHIPS, Parts, texts_of
from foundry.readers.formats.office.running import RunningLines
from foundry.readers.formats.office.stored_pictures import drop_lone_pictures
from foundry.readers.formats.packed import Package, describe_file
from foundry.readers.formats.pictures import PICTURE_SUFFIXES, extend, read_pictures
from foundry.readers.formats.word.blocks import Blocks
from foundry.readers.formats.word.inline import Inline
from foundry.readers.formats.word.names import PARAGRAPH, VAL, W
from foundry.readers.formats.word.numbering import Numbering
from foundry.readers.formats.word.styles import Styles
from foundry.readers.notes import leave_out

_WORDS = re.compile(r"\w{2}")
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_REFERENCES = (f"{W}headerReference", f"{W}footerReference")


def read(content: bytes, *, ocr: bool = False) -> Reading:
    """Read a document's text, tables, lists and notes, and the names of its pictures.

    Headers and footers are read once, without page numbers. Comments, deleted and hidden text are
    left out. With `ocr`, the pictures of a document without text are read. Raises UnreadableError
    for a zip bomb, and for a document without its main part.
    """
    package = Package(content)
    parts = Parts(package)
    root = parts.xml(parts.main)
    body = None if root is None else root.find(f"{W}body")
    if body is None:
        raise UnreadableError(Reason.DAMAGED, "there is no body")
    styles = Styles(parts.related_xml(parts.main, "styles"))
    composer = Composer()
    composer.text(_running_lines(parts, body, styles))
    numbering = Numbering(parts.related_xml(parts.main, "numbering"))
    Blocks(parts, parts.main, styles, numbering).add(composer, body)
    _tell_comments(parts)
    _tell_options(body, parts.main)
    reading = drop_lone_pictures(composer.finish())
    if ocr and not _WORDS.search(reading.text):
        media = (name for name in package.names if "/media/" in name)
        found = (name for name in media if name.lower().endswith(PICTURE_SUFFIXES))
        reading = read_pictures(package.read(name) or b"" for name in found)
    stated = describe_file(package.xml("docProps/core.xml"))
    stated["title"] = stated["title"] or reading.title
    return replace(reading, **stated)


def _running_lines(parts: Parts, body: Element, styles: Styles) -> str:
    """Return the distinct texts of headers and footers, without page numbers."""
    relations = parts.relations(parts.main)
    ids = (
        each.get(f"{RELATIONSHIPS}id", "")
        for section in body.iter(f"{W}sectPr")
        for each in section
        if each.tag in _REFERENCES
    )
    names = dict.fromkeys(relations[each].target for each in ids if each in relations)
    lines = RunningLines()
    for name in names:
        root = parts.xml(name)
        if root is None:
            continue
        inline = Inline(name, styles, parts.relations(name))
        inline.is_running = True
        waiting = _paragraphs(root)
        while waiting:
            written = inline.read(waiting.pop(0))
            boxes = (each for each in inline.take() if isinstance(each, Element))
            waiting = [p for box in boxes for p in _paragraphs(box)] + waiting
            lines.add(written, name)
    return str(lines)


def _paragraphs(root: Element) -> list[Element]:
    """Return the outermost paragraphs; text boxes in headers contain paragraphs too."""
    found: list[Element] = []
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag == PARAGRAPH:
            found.append(element)
        else:
            waiting += reversed(element)
    return found


def _tell_comments(parts: Parts) -> None:
    name = parts.related(parts.main, "comments")
    root = parts.xml(name) if name else None
    for comment in root if root is not None else ():
        leave_out(Omission.COMMENT, texts_of(comment), name or "")


def _tell_options(body: Element, part: str) -> None:
    """Record the options of drop-down lists as left out; the chosen ones are read."""
    for tag, attribute in ((f"{W}listItem", f"{W}displayText"), (f"{W}listEntry", VAL)):
        leave_out(
            Omission.FORM, "\n".join(each.get(attribute, "") for each in body.iter(tag)), part
        )


_SUFFIXES = (".docx", ".docm", ".dotx", ".dotm")
READER = extend(
    FileReader("docx/9", {"Word": _TYPE}, dict.fromkeys(_SUFFIXES, _TYPE), read, texts=word_texts),
    partial(read, ocr=True),
)
