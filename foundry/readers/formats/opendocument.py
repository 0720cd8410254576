"""OpenDocument texts and presentations (.odt, .odp), from their XML."""

from xml.etree.ElementTree import Element

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.packed import Package, describe

MAX_REPEATED = 100
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SKIPPED = frozenset(
    {f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}table-of-content"}
    | {f"{_TEXT}sequence-decls", f"{_OFFICE}forms"}
)
_KINDS = {
    "OpenDocument text": "application/vnd.oasis.opendocument.text",
    "OpenDocument presentation": "application/vnd.oasis.opendocument.presentation",
}


def read(content: bytes) -> Reading:
    """Read headings, paragraphs, lists and tables; a slide's number is its page.

    Comments, deleted text and generated tables of contents are left out. Raises UnreadableError for
    a bomb, and for an encrypted or a damaged document.
    """
    package = Package(content)
    manifest = package.read("META-INF/manifest.xml") or b""
    if b"encryption-data" in manifest:
        raise UnreadableError(Reason.ENCRYPTED)
    root = package.xml("content.xml")
    body = None if root is None else root.find(f"{_OFFICE}body")
    if body is None:
        raise UnreadableError(Reason.DAMAGED, "there is no content.xml")
    composer = Composer()
    _add(composer, body)
    return composer.finish(**describe(package.xml("meta.xml")))


def _add(composer: Composer, parent: Element) -> None:
    for element in parent:
        if element.tag in _SKIPPED:
            continue
        if element.tag == f"{_TEXT}h":
            composer.heading(_number(element, f"{_TEXT}outline-level"), _inline(element))
        elif element.tag == f"{_TEXT}p":
            composer.text(_inline(element).strip())
            # Text boxes are anchored in paragraphs.
            for box in element.iter(f"{_DRAW}text-box"):
                _add(composer, box)
        elif element.tag == f"{_TEXT}list":
            items = element.iter(f"{_TEXT}list-item")
            composer.text("\n".join(f"- {line}" for item in items if (line := _item(item))))
        elif element.tag == f"{_TABLE}table":
            composer.table([_row(row) for row in element.iter(f"{_TABLE}table-row")])
        else:
            if element.tag == f"{_DRAW}page":
                composer.page()
            _add(composer, element)


def _item(item: Element) -> str:
    """Return an item's own paragraphs; the items of lists inside it come by themselves."""
    own = (child for child in item if child.tag in {f"{_TEXT}p", f"{_TEXT}h"})
    return " ".join(filter(None, (_inline(child).strip() for child in own)))


def _row(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag in {f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"}:
            text = " ".join(_inline(paragraph) for paragraph in cell.iter(f"{_TEXT}p"))
            repeated = _number(cell, f"{_TABLE}number-columns-repeated")
            cells += [text] * min(repeated, MAX_REPEATED if text else 1)
    return cells


def _inline(element: Element) -> str:
    """Return the text of a paragraph, without the boxes and comments that are anchored in it."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == f"{_TEXT}s":
            parts.append(" " * min(_number(child, f"{_TEXT}c"), MAX_REPEATED))
        elif child.tag in {f"{_TEXT}tab", f"{_TEXT}line-break"}:
            parts.append("\t" if child.tag.endswith("tab") else "\n")
        elif child.tag not in _SKIPPED and child.tag != f"{_DRAW}text-box":
            parts.append(_inline(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _number(element: Element, name: str) -> int:
    written = element.get(name, "1")
    return int(written) if written.isdecimal() and len(written) < 9 else 1


READER = FileReader(
    "opendocument/1",
    _KINDS,
    {".odt": _KINDS["OpenDocument text"], ".odp": _KINDS["OpenDocument presentation"]},
    read,
)
