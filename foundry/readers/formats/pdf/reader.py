"""Reads PDF with PDFium: the lines of its pages, and the structure inferred from them.

Headings are the outline's entries that are found on their pages; without an outline, they are lines
in larger type than most of the text. If a page has no headings, the entries that lead to it become
headings.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from foundry.documents import Link, Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.allowance import current_allowance
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import normalise, normalise_line
from foundry.readers.formats import pictures
from foundry.readers.formats.front_matter import find_tags
from foundry.readers.formats.pdf.brackets import mend_brackets
from foundry.readers.formats.pdf.layout import Entry, compose
from foundry.readers.formats.pdf.ligatures import name_ligatures
from foundry.readers.formats.pdf.lines import Line
from foundry.readers.formats.pdf.page import PageReader
from foundry.readers.formats.pdf.running import drop_running_lines
from foundry.readers.formats.pdf.streams import (
    find_damaged_streams,
    find_missing_contents,
    may_have_layers,
)
from foundry.readers.notes import leave_out, note_damage, note_source

MAX_PAGES = 20_000
MAX_OUTLINE_ENTRIES = 20_000
MAX_LABEL_CHARS = 30
MAX_ATTACHMENTS = 1_000
MAX_NAME_CHARS = 200
_WAIT = re.compile(r"Please wait|PDF viewer may not be able to display", re.IGNORECASE)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_LETTER = re.compile(r"[^\W\d_]")
_DATE = re.compile(r"(?:D:)?(\d{4,14})(?:([+-]\d\d)'?(\d\d)?|Z)?")
# Titles set by programs: file names, and placeholders for missing titles.
_NO_TITLE = re.compile(
    r"microsoft |untitled|\(anonymous\)|.*\.(?:docx?|dvi|indd|odt|pdf|pptx?|qxd|tex)$|.{0,2}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Page:
    lines: Sequence[Line] = ()
    links: Sequence[str] = ()
    top: float | None = None
    height: float = 1.0
    is_seen: bool = False
    unsure: int = 0


def read(content: bytes, *, ocr: bool = False) -> Reading:
    """Read a PDF's text layer, page by page; with `ocr`, also pages that are pictures.

    Raises UnreadableError for a PDF that is encrypted or damaged, has too many pages or no text.
    """
    import pypdfium2
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD:
            raise UnreadableError(Reason.ENCRYPTED) from None
        raise UnreadableError(Reason.DAMAGED, "the PDF cannot be opened") from None
    if document.get_formtype() != raw.FORMTYPE_NONE:
        document.init_forms()
    count = len(document)
    if count > MAX_PAGES:
        raise UnreadableError(Reason.TOO_MANY_PAGES, f"{count}, the limit is {MAX_PAGES}")
    with_layers = may_have_layers(content)
    pages = [
        _read_page(document, number, ocr=ocr, with_layers=with_layers) for number in range(count)
    ]
    if document.get_formtype() == raw.FORMTYPE_XFA_FULL and _is_hint(pages):
        raise UnreadableError(Reason.NEEDS_ADOBE_READER)
    numbers = (*find_missing_contents(content), *find_damaged_streams(content))
    damaged = [f"object {number}" for number in numbers]
    for name in damaged:
        note_damage(name)
    if not any(_LETTER_OR_DIGIT.search(line.text) for page in pages for line in page.lines):
        if damaged:
            raise UnreadableError(Reason.DAMAGED, ", ".join(damaged[:9]))
        seen = Reason.ILLEGIBLE if any(page.unsure for page in pages) else Reason.NO_TEXT
        raise UnreadableError(seen if ocr else Reason.NEEDS_OCR, f"{count} pages")
    details = document.get_metadata_dict()
    title = " ".join(normalise(details.get("Title", "")).split())
    reading = compose(
        drop_running_lines(name_ligatures([page.lines for page in pages])),
        _read_outline(document, pages),
        title=title if _LETTER.search(title) and not _NO_TITLE.match(title) else None,
        modified=read_pdf_date(details.get("ModDate") or details.get("CreationDate") or ""),
    )
    for name in ("Subject", "Author", "Keywords"):
        note_source(normalise(details.get(name, "")))
    for name in ("Subject", "Author"):
        leave_out(Omission.METADATA, normalise(details.get(name, "")), "info")
    names = ", ".join(_read_attachments(document))
    attached = f"\n\nAttachments: {names}" if names else ""
    written = {link.target for link in reading.links}
    others = dict.fromkeys(url for page in pages for url in page.links if url not in written)
    return replace(
        reading,
        text=reading.text + attached,
        tags=find_tags({"keywords": normalise(details.get("Keywords", ""))}),
        links=(*reading.links, *(Link(url, url, "inline") for url in others)),
        page_labels=_read_labels(document, count),
        seen=tuple(number for number, page in enumerate(pages, 1) if page.is_seen),
        unsure=sum(page.unsure for page in pages),
    )


def read_pdf_date(written: str) -> str | None:
    """Return an ISO 8601 date or UTC date-time; None for anything else."""
    match = _DATE.match(written.strip())
    digits = match[1] if match else ""
    if match is None or len(digits) % 2:
        return normalise_date(written)
    date = f"{digits[:4]}-{digits[4:6] or '01'}-{digits[6:8] or '01'}"
    if len(digits) < 10:
        return normalise_date(date)
    offset = f"{match[2]}:{match[3] or '00'}" if match[2] else "+00:00"
    return normalise_date(f"{date}T{digits[8:10]}:{digits[10:12]:0>2}:{digits[12:]:0>2}{offset}")


def _is_hint(pages: Sequence[_Page]) -> bool:
    """Return whether a form's only page asks for a program that shows its fields."""
    text = " ".join(line.text for page in pages[:1] for line in page.lines)
    return len(pages) == 1 and _WAIT.search(text) is not None


def _read_attachments(document: Any) -> Iterator[str]:
    """Yield the names of the files in a PDF, which are not opened."""
    import pypdfium2

    for number in range(min(document.count_attachments(), MAX_ATTACHMENTS)):
        with suppress(pypdfium2.PdfiumError):
            name = document.get_attachment(number).get_name()
            yield normalise_line(name, MAX_NAME_CHARS) or "unnamed"


def _read_page(document: Any, number: int, *, ocr: bool, with_layers: bool) -> _Page:
    import pypdfium2

    try:
        reader = PageReader(document, number + 1, with_layers=with_layers)
    except pypdfium2.PdfiumError:
        note_damage(f"page {number + 1}")
        return _Page()
    try:
        lines = mend_brackets(reader.lines())
        links = [link.url for link in reader.links]
        read = _Page(lines, links, None if reader.is_turned else reader.top, reader.height)
        if not reader.is_picture(lines) or not current_allowance().take() or not ocr:
            return read
        seen = pictures.see(reader.render())
        return replace(
            read, lines=seen.lines or lines, is_seen=bool(seen.lines), unsure=seen.unsure
        )
    finally:
        reader.close()


def _read_labels(document: Any, count: int) -> tuple[str, ...]:
    """Return the printed label of each page, "" for its number; empty if all are numbers."""
    labels = [
        normalise_line(document.get_page_label(number), MAX_LABEL_CHARS) for number in range(count)
    ]
    printed = ["" if label == str(number) else label for number, label in enumerate(labels, 1)]
    return tuple(printed) if any(printed) else ()


def _read_outline(document: Any, pages: Sequence[_Page]) -> list[Entry]:
    import pypdfium2

    entries = []
    try:
        for bookmark in islice(document.get_toc(max_depth=6), MAX_OUTLINE_ENTRIES):
            destination = bookmark.get_dest()
            page = destination.get_index() if destination else None
            title = " ".join(normalise(bookmark.get_title()).split())
            if title and destination and page is not None and 0 <= page < len(pages):
                place = _place_on(pages[page], *destination.get_view())
                entries.append(Entry(bookmark.level + 1, title, page, place))
    except pypdfium2.PdfiumError:
        pass
    return entries


def _place_on(page: _Page, mode: int, numbers: Sequence[float]) -> float:
    """Return how far down a page a destination is, as a share of its height; 0 if it is unknown.

    `numbers` of the first mode are left, top and zoom, and of the second the top.
    """
    from pypdfium2 import raw

    known = {raw.PDFDEST_VIEW_XYZ: 1, raw.PDFDEST_VIEW_FITH: 0}
    number = known.get(mode, len(numbers))
    if page.top is None or number >= len(numbers):
        return 0.0
    return (page.top - numbers[number]) / page.height


READER = pictures.extend(
    FileReader("pdf/11", {"PDF": "application/pdf"}, {".pdf": "application/pdf"}, read),
    partial(read, ocr=True),
)
