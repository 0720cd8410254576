"""EPUB: the chapters of its spine, each read as a page."""

import re
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.decoding import decode
from foundry.readers.formats import html
from foundry.readers.formats.packed import Package, describe

MAX_CHAPTERS = 5_000
_OPF = "{http://www.idpf.org/2007/opf}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
# To a parser of HTML these would be begin tags, and the rest of the page their content.
_SELF_CLOSED = re.compile(r"<(title|script|style|a|div|span|p|i|b|em)((?:\s[^<>]*)?)/>")
_TYPE = "application/epub+zip"


def read(content: bytes) -> Reading:
    """Read a book's chapters in their order, without its table of contents.

    A chapter without a heading gets its page's title as one. Raises UnreadableError for a bomb, and
    for a book that is encrypted or does not say what it consists of.
    """
    package = Package(content, allow_dtd=True)
    if package.read("META-INF/rights.xml") is not None:
        raise UnreadableError(Reason.ENCRYPTED)
    container = package.xml("META-INF/container.xml")
    root_file = None if container is None else container.find(f".//{_CONTAINER}rootfile")
    path = "" if root_file is None else root_file.get("full-path", "")
    book = package.xml(path)
    if book is None:
        raise UnreadableError(Reason.DAMAGED, "the book does not say what it consists of")
    items = {item.get("id"): item for item in book.iter(f"{_OPF}item")}
    composer = Composer()
    for reference in list(book.iter(f"{_OPF}itemref"))[:MAX_CHAPTERS]:
        item = items.get(reference.get("idref"))
        if item is None or "nav" in item.get("properties", "").split():
            continue
        chapter = package.read(normpath(join(dirname(path), unquote(item.get("href", "")))))
        if chapter is not None:
            _add_chapter(composer, chapter)
    return composer.finish(**describe(book))


def _add_chapter(composer: Composer, content: bytes) -> None:
    text, _ = decode(content, html.declared_charset(content))
    reading = html.read(_SELF_CLOSED.sub(r"<\1\2></\1>", text))
    if not reading.headings and reading.text.strip():
        composer.heading(1, reading.title or "")
    composer.include(reading)


READER = FileReader("epub/1", {"EPUB": _TYPE}, {".epub": _TYPE}, read)
