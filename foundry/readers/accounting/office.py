"""Extracts the words of Word, PowerPoint, Excel, OpenDocument and EPUB files from their XML.

Numbers in a sheet or chart are not included, since their format changes the displayed text. Names
of fields, styles and sheets are attributes, and not included either.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from xml.parsers import expat

from foundry.readers.accounting.containers import MAX_BYTES, html_texts
from foundry.readers.decoding import decode

Start = Callable[[str, Mapping[str, str]], None]

_WORD = re.compile(
    r"(?:word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments|charts/chart\d*"
    r"|diagrams/data\d*)|docProps/core)\.xml"
)
_SLIDES = re.compile(
    r"(?:ppt/(?:slides/slide\d+|notesSlides/notesSlide\d+|comments/[^/]+|charts/chart\d*"
    r"|diagrams/data\d*)|docProps/core)\.xml"
)
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_BESIDE_SHEETS = re.compile(
    r"(?:xl/(?:comments\d*|comments/[^/]+|threadedComments/[^/]+|drawings/drawing\d+"
    r"|charts/chart\d+|diagrams/data\d*)|docProps/core)\.xml"
)
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_CHAPTER = re.compile(r".*\.x?html?", re.IGNORECASE)

_PROPERTIES = frozenset(("subject", "description", "category", "keywords", "keyword"))
_TEXTS = frozenset(("t", "delText", *_PROPERTIES))
_GAPS = frozenset(("p", "tab", "br", "cr", "tc", "pt", "si", *_PROPERTIES))
_OPTIONS = {"listItem": "displayText", "listEntry": "val"}
"""Options of the controls of a Word document, with the attribute that has their text."""
_SAID = ("promptTitle", "prompt", "errorTitle", "error", "tooltip")
"""Attributes of a sheet's validations and links that have text."""


def _members(content: bytes, wanted: re.Pattern[str]) -> Iterator[bytes]:
    """Yield the members with the wanted names, up to MAX_BYTES; stops at a damaged one."""
    left = MAX_BYTES
    with (
        suppress(zipfile.BadZipFile, OSError, EOFError, NotImplementedError),
        zipfile.ZipFile(io.BytesIO(content)) as archive,
    ):
        for member in archive.infolist():
            if wanted.fullmatch(member.filename) and member.file_size <= left:
                left -= member.file_size
                yield archive.read(member)


def _parse(
    content: bytes, start: Start, end: Callable[[str], None], data: Callable[[str], None]
) -> None:
    """Parse XML up to its first error, without prefixes and without opening entities."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, given: start(name.rpartition(":")[2], given)
    parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
    parser.CharacterDataHandler = data
    with suppress(expat.ExpatError, ValueError, LookupError):
        parser.Parse(content, True)


def _runs(content: bytes) -> str:
    """Return the content of text elements; a paragraph, a tab and a break end a word.

    In charts, these are the names of series and categories.
    """
    parts: list[str] = []
    inside = strings = 0

    def start(name: str, given: Mapping[str, str]) -> None:
        nonlocal inside, strings
        inside = name in _TEXTS or (name == "v" and bool(strings))
        if name in _OPTIONS:
            attribute = _OPTIONS[name]
            said = (text for key, text in given.items() if key.endswith(f":{attribute}"))
            parts.append(f"\n{next(said, '')}\n")
        strings += name == "strCache"
        if name in _GAPS or name == "v":
            parts.append("\n")
        elif name == "noBreakHyphen":
            parts.append("-")

    def end(name: str) -> None:
        nonlocal inside, strings
        inside = 0
        strings -= name == "strCache"

    def data(text: str) -> None:
        if inside:
            parts.append(text)

    _parse(content, start, end, data)
    return "".join(parts)


def word_texts(content: bytes) -> Iterator[str]:
    """Yield the texts of a Word document: body, headers, notes, comments, charts, properties."""
    return map(_runs, _members(content, _WORD))


def slide_texts(content: bytes) -> Iterator[str]:
    """Yield the texts of PowerPoint slides, with notes, charts and diagrams."""
    return map(_runs, _members(content, _SLIDES))


def sheet_texts(content: bytes) -> Iterator[str]:
    """Yield the texts of a workbook (.xlsx or .ods): cells with words, comments, boxes, charts.

    Older Excel workbooks are not zip packages, so their words are not extracted.
    """
    if not content.startswith(b"PK"):
        return
    yield from opendocument_texts(content)
    for member in _members(content, _BESIDE_SHEETS):
        yield _runs(member)
    shared: list[str] = []
    for member in _members(content, re.compile(r"xl/sharedStrings\.xml")):
        shared = _strings(member, [])
    for member in _members(content, _SHEET):
        yield "\n".join(_strings(member, shared))


def _strings(content: bytes, shared: list[str]) -> list[str]:
    """Return the shared strings of a workbook, or the text of each cell in a sheet.

    The latter is a shared or inline string, or a formula's; "" for numbers. Prompts, messages and
    options of validations follow, and descriptions of links.
    """
    found: list[str] = []
    kind, inside, spoken = "", False, False

    def start(name: str, given: Mapping[str, str]) -> None:
        nonlocal kind, inside, spoken
        spoken = spoken or name == "rPh"
        if name in {"c", "si"}:
            kind = given.get("t", "") if name == "c" else "inlineStr"
            found.append("")
        if name in {"dataValidation", "hyperlink", "formula1"}:
            kind = ""
            found.extend(_ESCAPE.sub(_character, given.get(each, "")) for each in _SAID)
            found.append("")
        inside = bool(found) and (
            (name == "v" and kind in {"s", "str"})
            or (name == "t" and kind == "inlineStr" and not spoken)
            or name == "formula1"
        )

    def end(name: str) -> None:
        nonlocal inside, spoken
        inside = False
        spoken = spoken and name != "rPh"
        if name == "c" and kind == "s":
            number = int(found[-1]) if found[-1].isdecimal() else len(shared)
            found[-1] = shared[number] if number < len(shared) else ""
        if name == "c":
            found[-1] = _ESCAPE.sub(_character, found[-1])
        if name == "formula1" and not found[-1].startswith('"'):
            found[-1] = ""

    def data(text: str) -> None:
        if inside:
            found[-1] += text

    _parse(content, start, end, data)
    return found


def _character(code: re.Match[str]) -> str:
    return chr(int(code[1], 16))


_RUNNING = frozenset(
    f"{name}{side}" for name in ("header", "footer") for side in ("", "-left", "-first")
)
_PARAGRAPHS = frozenset(("p", "h", "mi", "mn", "mtext"))
_NO_TEXT = frozenset(("creator", "date", "date-string", "sender-initials", "binary-data"))


def opendocument_texts(content: bytes) -> Iterator[str]:
    """Yield the paragraphs of an OpenDocument file, flat or packed, with headers and footers."""
    if not content.startswith(b"PK"):
        yield _paragraphs(content, everywhere=True)
        return
    # Formulas and charts are objects with their own content.
    for member in _members(content, re.compile(r"(?:[^/]+/)?content\.xml")):
        yield _paragraphs(member, everywhere=True)
    for member in _members(content, re.compile(r"styles\.xml")):
        yield _paragraphs(member, everywhere=False)
    yield from map(_runs, _members(content, re.compile(r"meta\.xml")))


def _paragraphs(content: bytes, *, everywhere: bool) -> str:
    """Return the text of paragraphs and headings, `everywhere` or in headers and footers only."""
    parts: list[str] = []
    depth = running = other = 0

    def start(name: str, _: Mapping[str, str]) -> None:
        nonlocal depth, running, other
        running += name in _RUNNING
        other += name in _NO_TEXT
        if name in _PARAGRAPHS:
            depth += 1
            parts.append("\n")
        elif name in {"s", "tab", "line-break", "note", "annotation", "note-body"}:
            parts.append(" ")

    def end(name: str) -> None:
        nonlocal depth, running, other
        running -= name in _RUNNING
        other -= name in _NO_TEXT
        if name in _PARAGRAPHS:
            depth -= 1
            parts.append("\n")

    def data(text: str) -> None:
        if depth and not other and (everywhere or running):
            parts.append(text)

    _parse(content, start, end, data)
    return "".join(parts)


def book_texts(content: bytes) -> Iterator[str]:
    """Yield the pages of an EPUB."""
    for member in _members(content, _CHAPTER):
        yield from html_texts(decode(member)[0])
