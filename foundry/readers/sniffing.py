"""Tell the kind of a file by its bytes, whatever its name says."""

import re

from foundry.readers.decoding import byte_order_mark, decode, looks_like_wide_text

SAMPLE_BYTES = 32_768
# More control characters than this in a sample, and it is binary. A stray NUL is dropped instead.
MAX_CONTROLS = 3
MAX_CONTROL_SHARE = 0.03

# Documents that a reader could be written for; then everything that holds no text.
_DOCUMENTS = (
    (b"%PDF-", "PDF"),
    (b"{\\rtf", "RTF"),
    (b"%!PS", "PostScript"),
)
_BINARIES = (
    (b"\x7fELF", "ELF executable"),
    (b"\xcf\xfa\xed\xfe", "Mach-O executable"),
    (b"\xce\xfa\xed\xfe", "Mach-O executable"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O executable"),
    (b"\0asm", "WebAssembly module"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"\0\0\1\0", "icon"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\x93NUMPY", "NumPy array"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"-----BEGIN RSA PRIVATE KEY", "private key"),
    (b"-----BEGIN EC PRIVATE KEY", "private key"),
    (b"-----BEGIN DSA PRIVATE KEY", "private key"),
    (b"-----BEGIN PRIVATE KEY", "private key"),
    (b"-----BEGIN ENCRYPTED PRIVATE KEY", "private key"),
    (b"-----BEGIN OPENSSH PRIVATE KEY", "private key"),
)
# Streams of old Office's files, whose names are in UTF-16.
_STREAMS = (
    ("EncryptedPackage", "encrypted Office"),
    ("__substg1.0_", "Outlook message"),
    ("WordDocument", "old Word"),
    ("PowerPoint Document", "old PowerPoint"),
    ("Workbook", "old Excel"),
    ("Book", "old Excel"),
)
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\b\x1b") + b"\x7f"
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).){0,4000}-->\s*){0,5}"
    r"<(?:!doctype\s+html|html)[\s>]",
    re.IGNORECASE | re.DOTALL,
)


def document_kind(content: bytes) -> str | None:
    """Return the name of a document format that holds text in another way than as text: "PDF"."""
    start = content[:1024]
    for magic, kind in _DOCUMENTS:
        if start.startswith(magic):
            return kind
    # PDF readers accept some junk before the header; text that mentions it has no binary part.
    if b"%PDF-1." in start and _is_binary(content):
        return "PDF"
    if start.startswith(b"PK\x03\x04"):
        return zip_kind(content)
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        names = ((name.encode("utf-16-le"), kind) for name, kind in _STREAMS)
        return next((kind for name, kind in names if name in content), "old Office")
    return None


def binary_kind(content: bytes) -> str | None:
    """Return what bytes are that are not text, in words; None for text of any encoding."""
    for magic, kind in _BINARIES:
        if content.startswith(magic):
            return kind
    if content.startswith(b"PK\x03\x04"):
        return "zip archive"
    if content.startswith(b"RIFF") and content[8:12] in {b"WAVE", b"WEBP", b"AVI "}:
        return f"{content[8:12].decode().strip()} media"
    if content[4:8] == b"ftyp":
        return "MP4 media"
    if content.startswith(b"MZ") and _is_binary(content):
        return "Windows executable"
    return "binary data" if _is_binary(content) else None


def is_html(content: bytes) -> bool:
    """Return whether bytes begin as an HTML page does."""
    if b"<" not in content[:8192]:
        return False
    start, _ = decode(content[:8192], "latin-1")
    return _HTML_START.match(start) is not None


def _is_binary(content: bytes) -> bool:
    if byte_order_mark(content) or looks_like_wide_text(content[:SAMPLE_BYTES]):
        return False
    middle = max(len(content) // 2 - SAMPLE_BYTES // 2, 0)
    windows = {
        content[:SAMPLE_BYTES],
        content[middle : middle + SAMPLE_BYTES],
        content[-SAMPLE_BYTES:],
    }
    return any(_has_many_controls(window) for window in windows)


def _has_many_controls(window: bytes) -> bool:
    controls = len(window) - len(window.translate(None, delete=_CONTROLS))
    return controls > max(MAX_CONTROLS, MAX_CONTROL_SHARE * len(window))


_SAMPLE_BYTES = 32_768
_MIME_TYPE = re.compile(rb"mimetypeapplication/([\w.+-]{1,80})")
_BY_MIME_TYPE = {
    b"epub+zip": "EPUB",
    b"vnd.oasis.opendocument.text": "OpenDocument text",
    b"vnd.oasis.opendocument.spreadsheet": "OpenDocument spreadsheet",
    b"vnd.oasis.opendocument.presentation": "OpenDocument presentation",
}
_BY_MEMBER = (
    (b"word/", "Word"),
    (b"xl/", "Excel"),
    (b"ppt/", "PowerPoint"),
    (b"META-INF/container.xml", "EPUB"),
)


def zip_kind(content: bytes) -> str | None:
    """Return the document format that is packed into a zip archive; None for an archive of files.

    Names are looked for in the directory at the end, and at the start for what was cut off.
    """
    written = _MIME_TYPE.search(content[:200])
    if written:
        # The next member's header follows without a gap.
        known = (name for name in _BY_MIME_TYPE if written[1].startswith(name))
        name = max(known, key=len, default=None)
        return _BY_MIME_TYPE[name] if name else "OpenDocument"
    # An entry of the directory, or a member's header, has its fields before its name.
    members = content[:_SAMPLE_BYTES] + content[-4 * _SAMPLE_BYTES :]
    return next((kind for name, kind in _BY_MEMBER if name in members), None)
