"""Reads XML of any vocabulary: its text, each piece below the names of its parent elements."""

import re
from dataclasses import replace
from html.entities import html5
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.accounting.containers import xml_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader
from foundry.readers.decoding import decode
from foundry.readers.formats import html
from foundry.readers.formats.packed import bare_tag, parse_xml
from foundry.readers.formats.pages import confluence
from foundry.readers.formats.wikitext import reader as wikitext
from foundry.readers.formats.xml.prose import is_prose, to_html
from foundry.readers.notes import leave_out

_NAMES = frozenset({"title", "name", "id", "label", "key", "term"})
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_OF_XML_ITSELF = (
    "{http://www.w3.org/XML/1998/namespace}",
    "{http://www.w3.org/2001/XMLSchema-instance}",
)
_VERSION = frozenset({"version"})
MAX_PROLOG = 10_000
_DOCTYPE = re.compile(rb"<!DOCTYPE\s[^\[\]<>]{1,2000}(?:\[\s*\]\s*)?>")
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,30});")
_OF_XML = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_MARKUP = re.compile(r"</\w|<br|<p>|<img ", re.IGNORECASE)


def read(content: bytes) -> Reading:
    """Read a document without its own DTD; prose of known vocabularies is read like a page.

    In others, elements of the first two levels are sections, named by their title, name or id;
    below them are lines of `path.of.element (attribute = value): text`. MediaWiki dumps are read as
    wikitext. Raises UnreadableError for a DTD with declarations, and for XML that is not
    well-formed.
    """
    if b"<ac:" in content and confluence.IS_STORAGE.search(text := decode(content)[0]):
        return html.read(text)
    root = parse_xml(_without_doctype(content))
    if bare_tag(root) == "mediawiki":
        return wikitext.read_dump(root)
    if is_prose(root):
        reading = html.read(to_html(root))
        first = next((heading.text for heading in reading.headings), None)
        return replace(
            reading,
            title=reading.title or first,
            language=root.get(_LANGUAGE) or reading.language,
        )
    composer = Composer()
    composer.text(_attributes_of(root, without=_VERSION))
    if any(map(len, root)) or (len(root) and not _is_mixed(root)):
        _add_sections(composer, root, 1)
    else:
        composer.text(_text_of(root))
    return composer.finish(title=_name_of(root), language=root.get(_LANGUAGE))


def _without_doctype(content: bytes) -> bytes:
    """Remove a document type without declarations from XML.

    Its named entities are replaced as in HTML, whose names vocabularies of prose share.
    """
    found = _DOCTYPE.search(content, 0, MAX_PROLOG)
    if found is None:
        return content
    blank = b"".join(b"\n" if byte == 10 else b" " for byte in found[0])
    content = content[: found.start()] + blank + content[found.end() :]
    return _ENTITY.sub(_character, content)


def _character(entity: re.Match[bytes]) -> bytes:
    name = entity[1].decode() + ";"
    known = name in html5 and entity[1] not in _OF_XML
    # The declaration may name any encoding, so the parser gets the bytes.
    return "".join(f"&#{ord(sign)};" for sign in html5[name]).encode() if known else entity[0]


def _add_sections(composer: Composer, parent: Element, level: int) -> None:
    lines = [*filter(None, [_plain(parent.text or "")])]
    for element in parent:
        if level <= 2 and len(element) and not _is_mixed(element):
            composer.text("\n".join(lines))
            lines = []
            composer.heading(level, _name_of(element) or bare_tag(element))
            composer.text(_attributes_of(element))
            _add_sections(composer, element, level + 1)
        else:
            _add_lines(lines, element, "")
        lines += filter(None, [_plain(element.tail or "")])
    composer.text("\n".join(lines))


def _add_lines(lines: list[str], element: Element, path: str) -> None:
    name = f"{path}.{bare_tag(element)}".lstrip(".")
    is_parent = len(element) and not _is_mixed(element)
    text = _plain(element.text or "") if is_parent else _text_of(element)
    attributes = _attributes_of(element)
    if text or attributes:
        label = f"{name} ({attributes})" if attributes else name
        lines.append(f"{label}: {text}" if text else label)
    if is_parent:
        for child in element:
            _add_lines(lines, child, name)


def _attributes_of(element: Element, without: frozenset[str] = frozenset()) -> str:
    """Return the attributes of an element, except those of XML itself and those `without`."""
    shown = []
    for name, value in element.attrib.items():
        is_of_xml = name.startswith(_OF_XML_ITSELF) or name in without
        if is_of_xml:
            leave_out(Omission.ATTRIBUTE, value)
        elif value.strip():
            shown.append(f"{name.rpartition('}')[2]} = {_plain(value)}")
    return ", ".join(shown)


def _text_of(element: Element) -> str:
    for part in element.iter():
        if part is not element:
            leave_out(Omission.ATTRIBUTE, " ".join(part.attrib.values()))
    return _plain("".join(element.itertext()))


def _plain(text: str) -> str:
    """Return a text on one line, with HTML removed if it contains any."""
    return " ".join((_strip_markup(text) if _MARKUP.search(text) else text).split())


def _is_mixed(element: Element) -> bool:
    """Return whether there is text between the element's children, as in a paragraph."""
    return any(child.tail and child.tail.strip() for child in element)


def _name_of(element: Element) -> str | None:
    for child in element:
        if bare_tag(child).lower() in _NAMES and child.text and child.text.strip():
            return child.text.strip()
    return next((value for key, value in element.attrib.items() if key in _NAMES), None)


def _strip_markup(text: str) -> str:
    """Return the text of HTML that a feed contains as escaped text."""
    page = LexborHTMLParser(text)
    for node in page.css("script,style"):
        node.decompose()
    return page.body.text(separator=" ") if page.body else ""


_TYPES = {
    ".xml": "application/xml",
    ".rss": "application/rss+xml",
    ".atom": "application/atom+xml",
    **dict.fromkeys((".dbk", ".docbook"), "application/docbook+xml"),
    **dict.fromkeys((".dita", ".ditamap"), "application/dita+xml"),
    ".nxml": "application/jats+xml",
    ".fb2": "application/x-fictionbook+xml",
    ".opml": "text/x-opml",
}
READER = FileReader("xml/10", {}, _TYPES, read, texts=xml_texts)
