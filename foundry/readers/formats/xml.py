"""XML of any vocabulary: its text, each piece under the names of the elements around it."""

import re
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser

from foundry.material import Reading
from foundry.readers.accounting.containers import xml_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader
from foundry.readers.formats import wikitext
from foundry.readers.formats.packed import parse_xml

_NAMES = frozenset({"title", "name", "id", "label", "key", "term"})
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_MARKUP = re.compile(r"</\w|<br|<p>|<img ", re.IGNORECASE)


def read(content: bytes) -> Reading:
    """Read a document without a DTD: sections for elements of the first two levels, named by the
    title, name or id that they have; below them, lines of `path.of.element: text`.

    Attributes are left out; dumps of MediaWiki are read as wikitext. Raises UnreadableError for a
    DTD and for what is not well-formed.
    """
    root = parse_xml(content)
    if _tag(root) == "mediawiki":
        return wikitext.read_dump(root)
    composer = Composer()
    if any(map(len, root)) or (len(root) and not _is_mixed(root)):
        _add_sections(composer, root, 1)
    else:
        composer.text(_text_of(root))
    return composer.finish(title=_name_of(root), language=root.get(_LANGUAGE))


def _add_sections(composer: Composer, parent: Element, level: int) -> None:
    lines = [*filter(None, [_plain(parent.text or "")])]
    for element in parent:
        if level <= 2 and len(element) and not _is_mixed(element):
            composer.text("\n".join(lines))
            lines = []
            composer.heading(level, _name_of(element) or _tag(element))
            _add_sections(composer, element, level + 1)
        else:
            _add_lines(lines, element, "")
        lines += filter(None, [_plain(element.tail or "")])
    composer.text("\n".join(lines))


def _add_lines(lines: list[str], element: Element, path: str) -> None:
    name = f"{path}.{_tag(element)}".lstrip(".")
    is_parent = len(element) and not _is_mixed(element)
    if text := _plain(element.text or "") if is_parent else _text_of(element):
        lines.append(f"{name}: {text}")
    if is_parent:
        for child in element:
            _add_lines(lines, child, name)


def _text_of(element: Element) -> str:
    return _plain("".join(element.itertext()))


def _plain(text: str) -> str:
    """Return a text on one line, without the HTML that it may be."""
    return " ".join((_strip_markup(text) if _MARKUP.search(text) else text).split())


def _is_mixed(element: Element) -> bool:
    """Return whether there is text between the element's children, as in a paragraph."""
    return any(child.tail and child.tail.strip() for child in element)


def _name_of(element: Element) -> str | None:
    for child in element:
        if _tag(child).lower() in _NAMES and child.text and child.text.strip():
            return child.text.strip()
    return next((value for key, value in element.attrib.items() if key in _NAMES), None)


def _tag(element: Element) -> str:
    # Comments and instructions have a function for a tag.
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _strip_markup(text: str) -> str:
    """Return the text of HTML that a feed carries as text."""
    page = LexborHTMLParser(text)
    for node in page.css("script,style"):
        node.decompose()
    return page.body.text(separator=" ") if page.body else ""


_TYPES = {".xml": "application/xml", ".rss": "application/rss+xml", ".atom": "application/atom+xml"}
READER = FileReader("xml/3", {}, _TYPES, read, texts=xml_texts)
