"""PDF, by PDFium: lines with their font size and place, and what they tell of the structure.

Headings are the outline's entries that are found on their pages; without an outline, they are lines
in larger type than most of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from foundry.readers import recognition
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import normalise
from foundry.readers.formats.pdf_layout import Entry, Line, compose, drop_running_lines
from foundry.readers.formats.pdf_page import PageReader
from foundry.readers.formats.seen_pages import SeenPage
from foundry.records import Link, Reading

NEEDS_OCR = "no text layer, needs OCR"
MAX_PAGES = 20_000
MAX_OUTLINE_ENTRIES = 20_000
MAX_LINKS_OF_PAGE = 1_000
MAX_URL_BYTES = 2_000
_WORD = re.compile(r"[^\W_]")
_NO_TITLES = ("untitled", "(anonymous)")


def read(content: bytes, *, ocr: bool = False) -> Reading:
    """Read a PDF's text layer, page by page; with `ocr`, pages that are pictures as such.

    Raises UnreadableError for an encrypted one, and for one that has no text but pictures of it.
    """
    import pypdfium2
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD or "assword" in str(error):
            raise UnreadableError("encrypted") from None
        raise UnreadableError("damaged", "not a PDF that can be opened") from None
    count = len(document)
    if count > MAX_PAGES:
        raise UnreadableError("too many pages", f"{count}, the limit is {MAX_PAGES}")
    pages = [_read_page(document, number, ocr=ocr) for number in range(count)]
    if not any(_WORD.search(line.text) for page in pages for line in page.lines):
        if ocr:
            raise UnreadableError("no text", f"{count} pages")
        raise UnreadableError(NEEDS_OCR, f"{count} pages")
    details = document.get_metadata_dict()
    outline = _read_outline(document)
    reading = compose(
        drop_running_lines([page.lines for page in pages]),
        outline,
        title=_clean_title(details.get("Title", "")),
        modified=read_pdf_date(details.get("ModDate") or details.get("CreationDate") or ""),
    )
    links = (Link(target, target, "inline") for target in _read_links(document))
    return replace(
        reading,
        links=tuple(dict.fromkeys((*reading.links, *links))),
        seen=tuple(number for number, page in enumerate(pages, 1) if page.is_seen),
        unsure=sum(page.unsure for page in pages),
        unseen=sum(page.is_unseen for page in pages),
    )


@dataclass(frozen=True, slots=True)
class _Page:
    lines: list[Line]
    is_seen: bool = False
    is_unseen: bool = False
    unsure: int = 0


def _read_page(document, number: int, *, ocr: bool) -> _Page:  # type: ignore[no-untyped-def]
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return _Page([])
    try:
        reader = PageReader(page)
        lines = reader.read()
        if not reader.is_picture(lines):
            return _Page(lines)
        if not ocr:
            return _Page(lines, is_unseen=True)
        seen = SeenPage(recognition.see(reader.render()))
        return _Page(seen.lines, is_seen=True, unsure=seen.unsure)
    finally:
        page.close()


def _read_outline(document) -> list[Entry]:  # type: ignore[no-untyped-def]
    import pypdfium2

    entries = []
    try:
        for bookmark in document.get_toc(max_depth=6):
            destination = bookmark.get_dest()
            page = destination.get_index() if destination else None
            title = " ".join(normalise(bookmark.get_title()).split())
            if title and page is not None:
                entries.append(Entry(bookmark.level + 1, title, page))
            if len(entries) >= MAX_OUTLINE_ENTRIES:
                break
    except pypdfium2.PdfiumError:
        return entries
    return entries


def _read_links(document) -> Iterator[str]:  # type: ignore[no-untyped-def]
    """Yield where the pages' links lead, outside the document."""
    import ctypes

    import pypdfium2
    from pypdfium2 import raw

    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError:
            continue
        position, link = ctypes.c_int(0), raw.FPDF_LINK()
        for _ in range(MAX_LINKS_OF_PAGE):
            if not raw.FPDFLink_Enumerate(page, position, link):
                break
            action = raw.FPDFLink_GetAction(link)
            buffer = ctypes.create_string_buffer(MAX_URL_BYTES)
            size = raw.FPDFAction_GetURIPath(document, action, buffer, MAX_URL_BYTES)
            if 1 < size <= MAX_URL_BYTES:
                yield normalise(buffer.value.decode("utf-8", "replace"))
        page.close()


def _clean_title(written: str) -> str | None:
    """A title that a person gave; programs put the name of their file there."""
    title = " ".join(normalise(written).split())
    lowered = title.lower()
    is_file = lowered.startswith("microsoft ") or lowered.rpartition(".")[2] in _SUFFIXES
    return None if len(title) < 3 or is_file or lowered.startswith(_NO_TITLES) else title


_SUFFIXES = frozenset({"doc", "docx", "dvi", "indd", "odt", "pdf", "ppt", "pptx", "qxd", "tex"})

READER = FileReader("pdf/2", {"PDF": "application/pdf"}, {".pdf": "application/pdf"}, read)
OCR_READER = recognition.extend(READER, partial(read, ocr=True))


_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:([+-])(\d{2})'?(\d{2})?|Z)?"
)


def read_pdf_date(written: str) -> str | None:
    """Return an ISO 8601 date or UTC date-time; None for what is no date."""
    match = _DATE.match(written.strip())
    if match is None:
        return normalise_date(written)
    year, month, day, hour, minute, second, sign, hours, minutes = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is None:
        return normalise_date(date)
    offset = f"{sign}{hours}:{minutes or '00'}" if sign else "+00:00"
    return normalise_date(f"{date}T{hour}:{minute or '00'}:{second or '00'}{offset}")
