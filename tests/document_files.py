"""Generated files in binary formats: small, and hostile."""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foundry.documents import Document, RawDocument
from foundry.readers import read
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>{title}</dc:title>'
    "<dc:language>de-DE</dc:language><dcterms:modified>2024-03-05T10:00:00Z</dcterms:modified>"
    "</cp:coreProperties>"
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)


def pack(members: Mapping[str, str | bytes], *, stored: Sequence[str] = ()) -> bytes:
    """Return a zip archive of these members, in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            method = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            # Members have no timestamp, so that the same content has the same bytes.
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return buffer.getvalue()


def docx(body: str, **more: str | bytes) -> bytes:
    """Return a Word document with this body; `more` has other members by name."""
    document = f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return pack(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
            'content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
            "_rels/.rels": RELATIONS,
            "word/document.xml": document,
            "docProps/core.xml": CORE.format(title="Handbuch"),
            **more,
        }
    )


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a Word document, with a built-in style's name."""
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text on a PDF page: font size, and distance from the bottom in points."""

    size: float
    height: float
    text: str


def pdf(
    pages: Sequence[Sequence[Text]],
    *,
    outline: Sequence[tuple[str, int]] = (),
    info: str = "",
    objects: Mapping[int, bytes] | None = None,
) -> bytes:
    """A PDF 1.4 of these pages; `outline` has titles and page numbers from 0.

    `objects` replaces some: 1 is the catalogue, 2 the page tree, 3 the font, 4 the info, 5 the
    outline. Page n is object 10 + 2n and its content 11 + 2n; the outline's entries follow.
    """
    kids = " ".join(f"{10 + 2 * number} 0 R" for number in range(len(pages)))
    first = 10 + 2 * len(pages)
    made: dict[int, bytes] = {
        1: b"<</Type/Catalog/Pages 2 0 R" + (b"/Outlines 5 0 R" if outline else b"") + b">>",
        2: f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        4: f"<<{info}>>".encode(),
    }
    for number, lines in enumerate(pages):
        shown = (f"BT /F {t.size} Tf 72 {t.height} Td ({t.text}) Tj ET" for t in lines)
        made[10 + 2 * number] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {11 + 2 * number} 0 R"
            "/Resources<</Font<</F 3 0 R>>>>>>"
        ).encode()
        made[11 + 2 * number] = stream("\n".join(shown).encode("cp1252"))
    if outline:
        last = first + len(outline) - 1
        made[5] = f"<</First {first} 0 R/Last {last} 0 R/Count {len(outline)}>>".encode()
    for place, (title, page) in enumerate(outline):
        following = f"/Next {first + place + 1} 0 R" if place + 1 < len(outline) else ""
        made[first + place] = (
            f"<</Title({title})/Parent 5 0 R/Dest[{10 + 2 * page} 0 R/Fit]{following}>>".encode()
        )
    return assemble_pdf({**made, **(objects or {})})


def stream(content: bytes, *, flate: int = 0) -> bytes:
    """Return a stream object, compressed this many times."""
    for _ in range(flate):
        content = zlib.compress(content, 9)
    filters = "/FlateDecode" * flate
    header = (
        f"<</Length {len(content)}/Filter[{filters}]>>" if flate else f"<</Length {len(content)}>>"
    )
    return header.encode() + b"stream\n" + content + b"\nendstream"


def assemble_pdf(objects: Mapping[int, bytes], *, trailer: str = "") -> bytes:
    """Return a PDF file of numbered objects, with its cross-reference table."""
    content = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    offsets = {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(content)
        content += b"%d 0 obj" % number + body + b"endobj\n"
    start = len(content)
    content += b"xref\n0 1\n0000000000 65535 f \n"
    for number, offset in offsets.items():
        content += b"%d 1\n%010d 00000 n \n" % (number, offset)
    size = max(objects) + 1
    content += f"trailer<</Size {size}/Root 1 0 R/Info 4 0 R{trailer}>>\n".encode()
    return content + b"startxref\n%d\n%%%%EOF\n" % start


_FREE, _END = 0xFFFFFFFF, 0xFFFFFFFE
_SECTOR = 512


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file ([MS-CFB]) of these streams; a slash in a name separates storages.

    Streams are padded with zero bytes to the size that requires separate sectors.
    """
    storages = list(dict.fromkeys(name.split("/")[0] for name in streams if "/" in name))
    names = ["Root Entry", *storages, *streams]
    table: list[int] = [_FREE]
    sectors: list[bytes] = [b""]

    def store(content: bytes) -> int:
        first = len(sectors)
        pieces = [content[place : place + _SECTOR] for place in range(0, len(content), _SECTOR)]
        sectors.extend(piece.ljust(_SECTOR, b"\0") for piece in pieces)
        table.extend([*range(first + 1, len(sectors)), _END])
        return first

    padded = {name: content.ljust(4_096, b"\0") for name, content in streams.items()}
    starts = {name: store(content) for name, content in padded.items()}

    def entry(place: int) -> bytes:
        name = names[place]
        folder, _, own = name.rpartition("/")
        siblings = [n for n in names[1:] if n.rpartition("/")[0] == folder] if place else []
        following = siblings[siblings.index(name) + 1 :] if place else []
        inside = [n for n in names[1:] if n.rpartition("/")[0] == ("" if place == 0 else name)]
        is_stream = name in streams
        label = own.encode("utf-16-le") + b"\0\0"
        return label.ljust(64, b"\0") + struct.pack(
            "<HBBIII36xIQ",
            len(label),
            5 if place == 0 else 2 if is_stream else 1,
            1,
            _FREE,
            names.index(following[0]) if following else _FREE,
            names.index(inside[0]) if inside and not is_stream else _FREE,
            starts[name] if is_stream else _END,
            len(padded[name]) if is_stream else 0,
        )

    directory = store(b"".join(entry(place) for place in range(len(names))))
    table[0] = 0xFFFFFFFD
    table.extend([_FREE] * (_SECTOR // 4 - len(table)))
    sectors[0] = struct.pack(f"<{_SECTOR // 4}I", *table)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIII", 0, 1, directory, 0, 4_096, _END, 0, _END, 0)
    header += struct.pack("<I", 0) + struct.pack("<I", _FREE) * 108
    return header + b"".join(sectors)


def read_document(content: str | bytes, path: str, sandbox: Sandbox | None = None) -> Document:
    """Read a file, in a sandbox if there is one. Fails if it is skipped."""
    raw = RawDocument("s", path, path, content if isinstance(content, bytes) else content.encode())
    result = read(raw, is_worker=True) if sandbox is None else read_apart(raw, sandbox)
    assert isinstance(result, Document), result
    return result


def read_whole(content: str | bytes, path: str, sandbox: Sandbox | None = None) -> Document:
    """Read a file as `read_document` does. Fails if a word is unaccounted for."""
    document = read_document(content, path, sandbox)
    assert document.reading.words is not None
    assert document.reading.words.unaccounted == 0, document.reading.unaccounted
    return document


def reader_of(document: Document) -> str:
    """Return the name of a document's reader, without versions."""
    return re.sub(r"/\d+", "", document.reader)


def slow_rst(lines: int) -> bytes:
    """A text that takes its reader about a millisecond per line, and at most a minute."""
    return "\n".join(f"word *emphasis* ``code`` `link <x{n}>`_" for n in range(lines)).encode()
