"""Detects the kind of a file from its bytes, whatever its name."""

import re
import struct
from collections.abc import Iterator

from foundry.readers.decoding import byte_order_mark, decode, looks_like_wide_text

SAMPLE_BYTES = 32_768
# A sample is binary if its control characters exceed both of these limits.
MAX_CONTROLS = 3
MAX_CONTROL_SHARE = 0.03

# Beginnings of documents, then of other common files.
_DOCUMENTS = {b"%PDF-": "PDF", b"{\\rtf": "RTF", b"%!PS": "PostScript"}
_BINARIES = {
    b"\x89PNG\r\n\x1a\n": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF8": "GIF image",
    b"II*\0": "TIFF image",
    b"MM\0*": "TIFF image",
    b"PK\x03\x04": "zip archive",
    b"\x1f\x8b": "gzip archive",
    b"BZh": "bzip2 archive",
    b"\xfd7zXZ\0": "xz archive",
    b"7z\xbc\xaf\x27\x1c": "7-Zip archive",
    b"\x7fELF": "ELF executable",
    b"SQLite format 3\0": "SQLite database",
    b"\x93NUMPY": "NumPy array",
    b"ID3": "MP3 audio",
}
PICTURES = {"PNG image": "image/png", "JPEG image": "image/jpeg", "TIFF image": "image/tiff"}
"""Pictures whose text can be read, with their media types."""

_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]{0,20}PRIVATE KEY")
# Streams that identify the format of an OLE file, which stores their names in UTF-16.
_STREAMS = {
    "EncryptedPackage": "encrypted Office",
    "__substg1.0_": "Outlook message",
    "WordDocument": "old Word",
    "PowerPoint Document": "old PowerPoint",
    "Workbook": "old Excel",
    "Book": "old Excel",
}
_MIME_TYPE = re.compile(
    rb"mimetypeapplication/(?:epub|vnd\.oasis\.opendocument\.?(text|spreadsheet|presentation|graphics)?)"
)
_MEMBERS = {
    b"word/": "Word",
    b"xl/": "Excel",
    b"ppt/": "PowerPoint",
    b"META-INF/container.xml": "EPUB",
    # For repacked archives, in which `mimetype` is not the first member.
    b"META-INF/manifest.xml": "OpenDocument",
}
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\b\x1b") + b"\x7f"
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).){0,4000}-->\s*){0,5}"
    r"<(?:!doctype\s+html|html)[\s>]",
    re.IGNORECASE | re.DOTALL,
)


def document_kind(content: bytes) -> str | None:
    """Return the name of a document format that does not store plain text, such as "PDF".

    Returns None for other formats.
    """
    start = content[:1024]
    for magic, kind in _DOCUMENTS.items():
        if start.startswith(magic):
            return kind
    # PDF readers accept some junk before the header. A text that only mentions the header has no
    # binary part.
    if b"%PDF-1." in start and _is_binary(content):
        return "PDF"
    if start.startswith(b"PK\x03\x04"):
        return _zip_kind(content)
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        names = ((name.encode("utf-16-le"), kind) for name, kind in _STREAMS.items())
        return next((kind for name, kind in names if name in content), "old Office")
    return None


def binary_kind(content: bytes) -> str | None:
    """Describe bytes that are not text; None for text in any encoding."""
    if _PRIVATE_KEY.match(content):
        return "private key"
    known = (kind for magic, kind in _BINARIES.items() if content.startswith(magic))
    return next(known, "binary data" if _is_binary(content) else None)


def is_html(content: bytes) -> bool:
    """Return whether bytes begin like an HTML page."""
    if b"<" not in content[:8192]:
        return False
    start, _ = decode(content[:8192], "latin-1")
    return _HTML_START.match(start) is not None


def _is_binary(content: bytes) -> bool:
    if byte_order_mark(content) or looks_like_wide_text(content[:SAMPLE_BYTES]):
        return False
    last = max(len(content) - SAMPLE_BYTES, 0)
    windows = (content[place : place + SAMPLE_BYTES] for place in {0, last // 2, last})
    return any(
        len(window) - len(window.translate(None, delete=_CONTROLS))
        > max(MAX_CONTROLS, MAX_CONTROL_SHARE * len(window))
        for window in windows
    )


def _zip_kind(content: bytes) -> str | None:
    """Return the document format in a zip archive; None for an archive of files.

    Names are read from the directory at the end. Truncated files have none, so their first
    SAMPLE_BYTES are searched.
    """
    if written := _MIME_TYPE.search(content[:200]):
        of_office = f"OpenDocument {(written[1] or b'').decode()}".strip()
        return "EPUB" if written[0].endswith(b"epub") else of_office
    names, head = list(_directory(content)), content[:SAMPLE_BYTES]
    for start, kind in _MEMBERS.items():
        if any(name.startswith(start) for name in names) if names else start in head:
            return kind
    return None


def _directory(content: bytes) -> Iterator[bytes]:
    """Yield the names in a zip archive's directory, without those in archives inside it."""
    end = content.rfind(b"PK\5\6")
    if end < 0 or len(content) < end + 22:
        return
    count, size, offset = struct.unpack_from("<HII", content, end + 10)
    # If there is data before the archive, all its offsets are too small.
    place = offset if content[offset : offset + 4] == b"PK\1\2" else end - size
    for _ in range(count):
        if place < 0 or content[place : place + 4] != b"PK\1\2" or len(content) < place + 46:
            return
        name, extra, comment = struct.unpack_from("<HHH", content, place + 28)
        yield content[place + 46 : place + 46 + name]
        place += 46 + name + extra + comment
