"""Reads EPUB: the chapters of its spine, each as a page, with titles from its navigation."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from posixpath import dirname, join, normpath
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborNode

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.office import book_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import declared_charset, decode
from foundry.readers.formats import html
from foundry.readers.formats.packed import Package, describe
from foundry.readers.formats.pages.tree import SEMANTICS
from foundry.readers.notes import leave_out, note_damage

MAX_CHAPTERS = 5_000
MAX_POINTS = 20_000
MAX_FALLBACKS = 5
_OPF = "{http://www.idpf.org/2007/opf}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
# Drawings with text may be pages too.
_PAGE = re.compile(r"\.x?html?$|xhtml|text/html|image/svg", re.IGNORECASE)
_NCX = "application/x-dtbncx+xml"
_TYPE = "application/epub+zip"


class Point(NamedTuple):
    """An entry of a book's navigation: its title, and its depth from 1.

    `above` are entries without a page, such as parts, that begin with this one.
    """

    title: str
    level: int
    above: "tuple[Point, ...]" = ()


Navigation = dict[str, dict[str, Point]]
"""Entries by file and id; an empty id is the file itself."""


def read(content: bytes) -> Reading:
    """Read a book's chapters in order, without the table of contents.

    A file without a heading belongs to the previous chapter, unless the navigation lists it.
    Raises UnreadableError for a zip bomb, and for a book that is encrypted or has no package
    document.
    """
    package = Package(content)
    if package.read("META-INF/rights.xml") is not None:
        raise UnreadableError(Reason.ENCRYPTED)
    container = package.xml("META-INF/container.xml")
    root_file = None if container is None else container.find(f".//{_CONTAINER}rootfile")
    path = "" if root_file is None else root_file.get("full-path", "")
    book = package.xml(path)
    if book is None:
        raise UnreadableError(Reason.DAMAGED, "the book has no package document")
    described = {**describe(book), "modified": _modified(book)}
    items = {item.get("id"): item for item in book.iter(f"{_OPF}item")}
    navigation = _read_navigation(package, dirname(path), list(items.values()))
    chapters = _Chapters(navigation, described["title"] or "")
    spine = list(book.iter(f"{_OPF}itemref"))[:MAX_CHAPTERS]
    listed = {reference.get("idref") for reference in spine}
    for unlisted in (each for identity, each in items.items() if identity not in listed):
        if "nav" in unlisted.get("properties", "").split():
            name = _resolve(dirname(path), unlisted.get("href", ""))
            leave_out(Omission.DUPLICATE, _words_of(_member(package, name) or b""), name)
    for reference in spine:
        item = items.get(reference.get("idref"))
        if item is None:
            continue
        item = _readable(item, items)
        name = _resolve(dirname(path), item.get("href", ""))
        chapter = _member(package, name)
        if chapter is None:
            note_damage(name)
        if chapter is None or not _PAGE.search(_kind(item)):
            continue
        if "nav" in item.get("properties", "").split():
            leave_out(Omission.DUPLICATE, _words_of(chapter), name)
            continue
        chapters.add(name, chapter)
    return chapters.composer.finish(**described)


class _Chapters:
    """Adds the files of a book to a `composer`."""

    def __init__(self, navigation: Navigation, title: str) -> None:
        self.composer = Composer()
        self._navigation = navigation
        self._previous_title = title

    def add(self, name: str, content: bytes) -> None:
        """Add a file of the spine."""
        points = self._navigation.get(name, {})
        text, _ = decode(content, declared_charset(content))
        inner = {place: (point.title, point.level) for place, point in points.items() if place}
        reading = html.read(text, is_book=True, sections=inner)
        if not reading.text.strip():
            return
        leave_out(Omission.METADATA, reading.title or "", name)
        for part in next((point.above for point in points.values()), ()):
            self.composer.heading(part.level, part.title)
        first = points.get("") or (next(iter(points.values())) if len(points) == 1 else None)
        if not reading.headings:
            self._name(first, reading.title)
        else:
            level = first.level if first else 1
            goes_on = bool(self._navigation) and not points
            shift = 0 if goes_on else level - reading.headings[0].level
            begins_late = reading.text[: reading.headings[0].start].strip() != ""
            is_named = first and any(_same(first.title, each.text) for each in reading.headings)
            if first and begins_late and not is_named:
                self._name(first, None)
                # The navigation sets the levels of the headings that it lists.
                shift = 0 if inner else shift
            levels = dict(inner.values())
            reading = _shifted(reading, shift, levels)
        self.composer.include(reading)

    def _name(self, point: Point | None, title: str | None) -> None:
        """Start a section with a file's title in the navigation, or its own if there is none."""
        if point:
            self.composer.heading(point.level, point.title)
        elif title and not self._navigation and title != self._previous_title:
            self.composer.heading(1, title)
            self._previous_title = title


def _same(title: str, heading: str) -> bool:
    """Return whether a heading equals, contains or is part of the title in the navigation."""
    one, other = ("".join(filter(str.isalnum, text.casefold())) for text in (title, heading))
    return bool(one and other) and (one in other or other in one)


def _shifted(reading: Reading, shift: int, levels: Mapping[str, int]) -> Reading:
    """Return a reading with shifted heading levels, in its text as well."""
    if not shift:
        return reading
    composer, end, blocks = Composer(), 0, list(reading.blocks)
    for heading in (*reading.headings, None):
        start = heading.start if heading else len(reading.text)
        piece = reading.text[end:start].strip("\n")
        if piece.strip():
            begin = reading.text.index(piece, end)
            own = [block for block in blocks if begin <= block.start < start]
            moved = tuple(
                replace(block, start=block.start - begin, end=block.end - begin) for block in own
            )
            composer.include(Reading(piece, blocks=moved))
        if heading:
            level = min(max(levels.get(heading.text, heading.level + shift), 1), 6)
            if heading.text:
                composer.heading(level, heading.text)
            else:
                composer.end_section(level)
            end = heading.end
    return composer.finish(title=reading.title)


def _read_navigation(package: Package, folder: str, items: list[Element]) -> Navigation:
    """Read a book's navigation document, or its NCX if there is none."""
    documents = [item for item in items if "nav" in item.get("properties", "").split()]
    documents += [item for item in items if item.get("media-type") == _NCX]
    for item in documents:
        name = _resolve(folder, item.get("href", ""))
        content = _member(package, name)
        if content is None:
            continue
        text, _ = decode(content, declared_charset(content))
        page = html.parse(text)
        found: Navigation = {}
        for target, point in list(_points(page.root if page else None))[:MAX_POINTS]:
            path, _, place = target.partition("#")
            named = found.setdefault(_resolve(dirname(name), path), {})
            named.setdefault(unquote(place), point)
        if found:
            return found
    return {}


def _points(root: LexborNode | None) -> Iterator[tuple[str, Point]]:
    """Yield the targets of a navigation document or an NCX, with titles."""
    if root is None:
        return
    for label in root.css("navpoint > navlabel"):
        entry = label.parent
        content = next((c for c in entry.iter() if c.tag == "content"), None) if entry else None
        title = " ".join(label.text().split())
        if entry is not None and content is not None and title:
            target = content.attributes.get("src") or ""
            yield target, Point(title, _depth(entry, "navpoint") + 1)
    for part in root.css("nav"):
        if "toc" not in (part.attributes.get(SEMANTICS) or "").split():
            continue
        above: tuple[Point, ...] = ()
        for entry in part.css("li > a[href], li > span"):
            title = " ".join(entry.text().split())
            if title and entry.tag == "span":
                above += (Point(title, _depth(entry, "ol")),)
            elif title:
                target = entry.attributes.get("href") or ""
                yield target, Point(title, _depth(entry, "ol"), above)
                above = ()


def _depth(node: LexborNode, tag: str) -> int:
    depth, parent = 0, node.parent
    while parent is not None:
        depth += parent.tag == tag
        parent = parent.parent
    return depth


def _resolve(folder: str, href: str) -> str:
    return normpath(join(folder, unquote(href.partition("#")[0])))


def _readable(item: Element, items: Mapping[str | None, Element]) -> Element:
    """Return an item of the spine, or its readable fallback."""
    for _ in range(MAX_FALLBACKS):
        fallback = items.get(item.get("fallback"))
        if _PAGE.search(_kind(item)) or fallback is None:
            break
        item = fallback
    return item


def _kind(item: Element) -> str:
    return f"{item.get('media-type', '')} {item.get('href', '')}"


def _member(package: Package, name: str) -> bytes | None:
    """Return a member by name; some programs write names in UTF-8 without setting the flag."""
    content = package.read(name)
    if content is None and not name.isascii():
        for each in package.names:
            with suppress(UnicodeError):
                read_as = each.encode("cp437").decode("utf-8")
                if normalize("NFC", read_as) == normalize("NFC", name):
                    return package.read(each)
        same = (each for each in package.names if normalize("NFC", each) == normalize("NFC", name))
        content = package.read(next(same, name))
    return content


def _words_of(content: bytes) -> str:
    text, _ = decode(content, declared_charset(content))
    page = html.parse(text)
    seen = (page.css_first("title"), page.body) if page else ()
    return " ".join(node.text(separator=" ") for node in seen if node)


def _modified(book: Element) -> str | None:
    """Return the book's modification date, which EPUB 3 requires, or else another date."""
    stated: Mapping[str, str] = {
        meta.get("property", ""): (meta.text or "").strip() for meta in book.iter(f"{_OPF}meta")
    }
    dates = {
        each.get(f"{_OPF}event", ""): (each.text or "").strip()
        for each in book.iter("{http://purl.org/dc/elements/1.1/}date")
    }
    found = (stated.get("dcterms:modified"), dates.get("modification"), *dates.values())
    return next(filter(None, map(normalise_date, found)), None)


READER = FileReader("epub/5", {"EPUB": _TYPE}, {".epub": _TYPE}, read, texts=book_texts)
