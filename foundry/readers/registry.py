"""Finds the reader of a document by its bytes, its media type, or its name.

A new format is a module with a `READER`, whose `texts` returns the words of a file independently,
and one line here: in `READERS` for text formats that take linear time, in `FILE_READERS` for
others, which worker processes read.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from foundry.documents import RawDocument
from foundry.readers.code import source as code
from foundry.readers.contract import FileReader, Reader
from foundry.readers.formats import (
    calendar,
    contacts,
    epub,
    html,
    notebook,
    pictures,
    plain,
    saved_page,
    structured,
    subtitles,
    timed_text,
)
from foundry.readers.formats.asciidoc import reader as asciidoc
from foundry.readers.formats.latex import reader as latex
from foundry.readers.formats.mail import reader as mail
from foundry.readers.formats.man import reader as man
from foundry.readers.formats.markdown import reader as markdown
from foundry.readers.formats.opendocument import reader as opendocument
from foundry.readers.formats.org import reader as org
from foundry.readers.formats.pdf import reader as pdf
from foundry.readers.formats.rst import reader as rst
from foundry.readers.formats.rtf import reader as rtf
from foundry.readers.formats.sheets import delimited, workbook
from foundry.readers.formats.sheets import old as old_sheets
from foundry.readers.formats.slides import reader as slides
from foundry.readers.formats.wikitext import reader as wikitext
from foundry.readers.formats.word import reader as word
from foundry.readers.formats.xml import reader as xml
from foundry.readers.sniffing import PICTURES, binary_kind, document_kind, is_html

READERS: tuple[Reader, ...] = (
    *markdown.READERS,
    html.READER,
    plain.READER,
    *code.READERS,
    asciidoc.READER,
    delimited.TEXT_READER,
    latex.READER,
    man.READER,
    org.READER,
    notebook.READER,
    subtitles.READER,
    calendar.READER,
    contacts.READER,
    *structured.READERS,
)
FILE_READERS: tuple[FileReader, ...] = (
    pdf.READER,
    word.READER,
    slides.READER,
    workbook.READER,
    old_sheets.READER,
    opendocument.READER,
    opendocument.FLAT_READER,
    epub.READER,
    rtf.READER,
    *mail.READERS,
    xml.READER,
    rst.READER,
    saved_page.READER,
    wikitext.READER,
    timed_text.READER,
)
NAMED_BY_FILE = (*code.READERS, *structured.READERS, delimited.TEXT_READER)
"""Formats without titles; the whole file name becomes the title of such documents."""

Choice = tuple[Reader | FileReader, str]
"""A reader, and the media type of the document."""

_ALL: tuple[Reader | FileReader, ...] = (*READERS, *FILE_READERS)
_BY_NAME: dict[str, Choice] = {
    name: (reader, media_type) for reader in _ALL for name, media_type in reader.media_types.items()
}
_BY_MEDIA_TYPE = {media_type: reader for reader, media_type in reversed(_BY_NAME.values())}
_BY_KIND = {
    kind: (reader, media_type)
    for reader in FILE_READERS
    for kind, media_type in reader.kinds.items()
}


def every_reader() -> Iterator[Reader | FileReader]:
    """Yield all readers, including those that read text from pictures."""
    yield from (*_ALL, pictures.READER)
    yield from (reader.with_ocr for reader in FILE_READERS if reader.with_ocr is not None)


def find_by_kind(raw: RawDocument) -> tuple[FileReader, str] | None:
    """Return the reader and media type for a known kind of bytes, whatever the file's name.

    Returns None for others.
    """
    found = _BY_KIND.get(document_kind(raw.content) or "")
    if found and raw.ocr:
        return found[0].with_ocr or found[0], found[1]
    picture = binary_kind(raw.content) if raw.ocr and not found else None
    return (pictures.READER, PICTURES[picture]) if picture in PICTURES else found


def find_by_name(path: str) -> Choice | None:
    """Return the reader and media type for a file name; None if there are none."""
    name = PurePosixPath(path).name.lower()
    return _BY_NAME.get(name) or _BY_NAME.get(PurePosixPath(name).suffix)


def choose(raw: RawDocument) -> Choice:
    """Return the reader for a document whose bytes are text."""
    if raw.media_type in _BY_MEDIA_TYPE:
        return _BY_MEDIA_TYPE[raw.media_type], raw.media_type
    reader, media_type = find_by_name(raw.path) or (plain.READER, "text/plain")
    # Code may begin like a page, as templates and components do.
    if reader not in code.READERS and is_html(raw.content):
        return html.READER, "text/html"
    return reader, media_type
