"""Reads OpenDocument texts, presentations, drawings and sheets, packed (.odt) or flat (.fodt)."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.office import opendocument_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.office.running import PAGE_NUMBER, RunningLines
from foundry.readers.formats.office.stored_pictures import drop_lone_pictures
from foundry.readers.formats.opendocument.blocks import Blocks
from foundry.readers.formats.opendocument.controls import place_controls
from foundry.readers.formats.opendocument.names import OFFICE, STYLE, TEXT
from foundry.readers.formats.opendocument.styles import Styles
from foundry.readers.formats.packed import Package, describe_file, parse_xml
from foundry.readers.notes import leave_out

_TYPE = "application/vnd.oasis.opendocument"
_SUFFIXES = {
    **{"odt": "text", "ott": "text-template", "odm": "text-master", "ods": "spreadsheet"},
    **{"ots": "spreadsheet-template", "odp": "presentation", "otp": "presentation-template"},
    **{"odg": "graphics", "otg": "graphics-template"},
}
_FLAT = {"fodt": "text", "fods": "spreadsheet", "fodp": "presentation", "fodg": "graphics"}
_RUNNING = tuple(
    f"{STYLE}{name}{which}" for name in ("header", "footer") for which in ("", "-left", "-first")
)
_PAGES = frozenset(f"{TEXT}{name}" for name in ("page-number", "page-count", "page-continuation"))


def read(content: bytes) -> Reading:
    """Read headings, paragraphs, lists, tables, notes and shapes; a slide or sheet is a page.

    Headers and footers are read once. Comments, deleted text and generated tables of contents are
    left out. Raises UnreadableError for a zip bomb, and for an encrypted or damaged document.
    """
    package = Package(content)
    manifest = package.read("META-INF/manifest.xml") or b""
    if b"encryption-data" in manifest:
        raise UnreadableError(Reason.ENCRYPTED)
    root = package.xml("content.xml")
    styles = package.xml("styles.xml")

    def load(name: str) -> Element | None:
        return package.xml(f"{name}/content.xml")

    return _read(root, styles, package.xml("meta.xml"), load)


def read_flat(content: bytes) -> Reading:
    """Read a document in a single XML file, like `read`. Raises UnreadableError."""
    root = parse_xml(content)
    return _read(root, None, root.find(f"{OFFICE}meta"), lambda _: None)


def _read(
    root: Element | None,
    styles: Element | None,
    meta: Element | None,
    load: Callable[[str], Element | None],
) -> Reading:
    body = None if root is None else root.find(f"{OFFICE}body")
    if root is None or body is None:
        raise UnreadableError(Reason.DAMAGED, "the document has no body")
    place_controls(body)
    known = Styles.of((styles, root))
    blocks = Blocks(known, load)
    composer = Composer()
    sheets = body.find(f"{OFFICE}spreadsheet")
    running = _running_lines(root if styles is None else styles)
    if sheets is not None:
        # A sheet has headers and footers only when it is printed.
        leave_out(Omission.RUNNING_LINE, running)
        blocks.add_sheets(composer, sheets)
    else:
        composer.text(running)
        for part in body:
            blocks.add(composer, part)
    return drop_lone_pictures(composer.finish(**describe_file(meta)))


def _running_lines(root: Element) -> str:
    """Return the distinct texts of headers and footers, without page numbers."""
    lines = RunningLines()
    for page in root.iter(f"{STYLE}master-page"):
        for part in page:
            if part.tag in _RUNNING and part.get(f"{STYLE}display") != "false":
                for paragraph in part.iter(f"{TEXT}p"):
                    lines.add(_text_of(paragraph), page.get(f"{STYLE}name", ""))
    return str(lines)


def _text_of(element: Element) -> str:
    if element.tag in _PAGES:
        leave_out(Omission.RUNNING_LINE, element.text or "")
        return PAGE_NUMBER
    if element.tag == f"{TEXT}tab":
        return "\t"
    if element.tag == f"{TEXT}s":
        return " "
    inner = ((_text_of(child), child.tail or "") for child in element)
    return (element.text or "") + "".join(text + tail for text, tail in inner)


_KINDS = {
    **{f"OpenDocument {kind}": f"{_TYPE}.{kind}" for kind in ("text", "spreadsheet", "graphics")},
    "OpenDocument presentation": f"{_TYPE}.presentation",
    "OpenDocument": f"{_TYPE}.text",
}
READER = FileReader(
    "opendocument/10",
    _KINDS,
    {f".{suffix}": f"{_TYPE}.{kind}" for suffix, kind in _SUFFIXES.items()},
    read,
    texts=opendocument_texts,
)
FLAT_READER = FileReader(
    "opendocument-flat/9",
    {},
    {f".{suffix}": f"{_TYPE}.{kind}-flat-xml" for suffix, kind in _FLAT.items()},
    read_flat,
    texts=opendocument_texts,
)
