"""From raw documents to documents: the chosen reader, the identity, and refusals."""

import codecs
import gzip
import io
import unicodedata
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from document_files import reader_of
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart

_SANDBOX = Sandbox()


@pytest.fixture(scope="module", autouse=True)
def _close_sandbox(forked_readers: None) -> Iterator[None]:
    yield
    _SANDBOX.close()


def read(raw: RawDocument) -> Document | Skipped:
    return read_apart(raw, _SANDBOX)


def make_raw(content: str | bytes, path: str = "a.md", **values: Any) -> RawDocument:
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return RawDocument(**{"source": "s", "key": path, "path": path, "content": content, **values})


def read_document(content: str | bytes, path: str = "a.md", **values: Any) -> Document:
    result = read(make_raw(content, path, **values))
    assert isinstance(result, Document), result
    return result


def reason(content: str | bytes, path: str = "a.md", **values: Any) -> tuple[str, str]:
    result = read(make_raw(content, path, **values))
    assert isinstance(result, Skipped), result
    return result.reason, result.detail


def zip_of(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "<xml/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("path", "reader", "media_type"),
    [
        ("a.md", "markdown", "text/markdown"),
        ("A.MD", "markdown", "text/markdown"),
        ("a.mdx", "mdx", "text/markdown"),
        ("a.html", "html", "text/html"),
        ("a.rst", "rst", "text/x-rst"),
        ("a.adoc", "asciidoc", "text/asciidoc"),
        ("a.tex", "latex", "text/x-tex"),
        ("a.yml", "yaml", "application/yaml"),
        ("a.py", "code-python", "text/x-python"),
        ("sub/Dockerfile", "code", "text/x-dockerfile"),
        ("a.unknown", "text", "text/plain"),
        ("LICENSE", "text", "text/plain"),
    ],
)
def test_name_determines_the_reader(path: str, reader: str, media_type: str) -> None:
    document = read_document("some words", path)
    assert (reader_of(document), document.media_type) == (reader, media_type)


def test_source_may_determine_the_reader() -> None:
    document = read_document("# A\n\ntext", "1", id="1", media_type="text/markdown")
    assert (reader_of(document), document.title, document.id) == ("markdown", "A", "1")
    plain = read_document("<html>is a tag</html>", "1", id="1", media_type="text/plain")
    assert reader_of(plain) == "text"


@pytest.mark.parametrize("path", ["page.txt", "page.md", "page", "page.unknown"])
def test_html_pages_may_have_any_name(path: str) -> None:
    document = read_document("\n<!-- x --><!DOCTYPE html><title>T</title><p>words", path)
    assert (reader_of(document), document.title) == ("html", "T")


@pytest.mark.parametrize(
    ("content", "path", "expected"),
    [
        (b"", "a.md", ("empty file", "")),
        (
            b"\x7fELF\x02\x01\x01" + bytes(60),
            "a.md",
            ("content does not match its name", "ELF executable"),
        ),
        (b"%PDF-1.7\nwords", "a.html", ("damaged", "the PDF cannot be opened")),
        (b"%PDF-1.7\nwords", "a.docx", ("damaged", "the PDF cannot be opened")),
        (b"words", "a.pdf", ("content does not match its name", "")),
        (b"%!PS\nwords", "a.ps", ("PostScript is not supported", "")),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "a", ("old Office is not supported", "")),
        (
            b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/vnd.oasis.opendocument.graphics",
            "a",
            ("damaged", "zip archive"),
        ),
        (zip_of("word/header.xml"), "a.docx", ("damaged", "the package has no main part")),
        (zip_of("xl/workbook.xml"), "a.bin", ("damaged", "the package has no workbook")),
        (b"SQLite format 3\0" + bytes(99), "a.db", ("a database", "SQLite database")),
        (zip_of("a.txt"), "a.zip", ("not a text format", "zip archive")),
        (gzip.compress(b"words", mtime=0), "a.gz", ("not a text format", "gzip archive")),
        (b"\x89PNG\r\n\x1a\nIHDR", "a.png", ("a picture", "PNG image")),
        (bytes(range(256)) * 20, "a.dat", ("not a text format", "binary data")),
        (
            b"#!/bin/sh\n" + b"x\n" * 40_000 + bytes(40_000),
            "run",
            ("not a text format", "binary data"),
        ),
        (b"-----BEGIN PRIVATE KEY-----\nMII", "notes.txt", ("holds a private key", "")),
        (b" \n" * 100_000, "a.txt", ("no text", "")),
        ("---\ntitle: only\n---\n***\n", "a.md", ("no text", "")),
        ("😀 🎉", "a.md", ("no text", "")),
    ],
)
def test_refused_files_have_reasons(
    content: str | bytes, path: str, expected: tuple[str, str]
) -> None:
    assert reason(content, path) == expected


def test_ids_come_from_source_and_key() -> None:
    first = read_document("same text", "a.md")
    assert len(first.id) == 16
    assert first.id == read_document("other text", "a.md").id
    assert first.id != read_document("same text", "b.md").id
    assert first.id != read_document("same text", "a.md", source="t").id


def test_files_whose_names_look_equal_are_distinct() -> None:
    names = ["café.md", "cafe\u0301.md", "caf\udce9.md"]
    documents = [read_document("x", name) for name in names]
    assert len({document.id for document in documents}) == 3
    assert documents[0].path == documents[1].path == "café.md"
    assert documents[2].path == "caf\ufffd.md"


def test_metadata_is_normalised_like_the_text() -> None:
    document = read_document(
        "e\u0301\r\nx\0y\rz",
        "a.md",
        title=" A\r\n e\u0301\x1b\ud800 ",
        tags=("b", "e\u0301", "b", " "),
        metadata={"k": "e\u0301\0\r\n"},
        url="https://x.org/e\u0301",
        modified="Tue, 05 Mar 2024 10:00:00 +0200",
    )
    assert document.reading.text == "é\nxy\nz"
    assert document.title == "A é\ufffd"
    assert document.tags == ("b", "é")
    assert document.metadata == {"k": "é\n"}
    assert document.url == "https://x.org/é"
    assert document.modified == "2024-03-05T08:00:00Z"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2024-05-06", "2024-05-06"),
        ("2024/05/06", "2024-05-06"),
        ("2024-05-06T07:08:09+02:00", "2024-05-06T05:08:09Z"),
        ("2024-05-06 07:08", "2024-05-06T07:08:00Z"),
        ("6 May 2024", "2024-05-06"),
        ("May 6, 2024", "2024-05-06"),
        ("05/06/2024", None),
        ("2024-13-45", None),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_dates(written: str, expected: str | None) -> None:
    assert read_document("text", modified=written).modified == expected


@pytest.mark.parametrize(
    ("content", "text", "replaced"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "café", 0),
        ("Zoë liest".encode("utf-16"), "Zoë liest", 0),
        ("Zoë liest".encode("utf-16-be"), "Zoë liest", 0),
        ("Zoë liest".encode("utf-16-le"), "Zoë liest", 0),
        ("pump seal ЖЖЖЖЖЖЖЖ".encode("utf-16-le"), "pump seal ЖЖЖЖЖЖЖЖ", 0),
        ("ЖЖЖЖЖЖЖЖ pump seal".encode("utf-16-be"), "ЖЖЖЖЖЖЖЖ pump seal", 0),
        ("Zoë liest heute".encode("utf-32"), "Zoë liest heute", 0),
        (b"na\xc3\xafve caf\xc3\xa9 \xff end", "naïve café \ufffd end", 1),
        ("kept \ufffd naïve ".encode() + b"\xff end", "kept \ufffd naïve \ufffd end", 1),
        (b"cut off \xe2\x82", "cut off \ufffd", 1),
        (codecs.BOM_UTF8 + "kept \ufffd".encode(), "kept \ufffd", 0),
        (b"x\xed\xa0\x80y", "x\ufffdy", 1),
        ("kept \ufffd as written".encode(), "kept \ufffd as written", 0),
    ],
)
def test_encodings(content: bytes, text: str, replaced: int) -> None:
    document = read_document(content, "a.txt")
    assert (document.reading.text, document.replaced) == (text, replaced)


@pytest.mark.parametrize(
    ("charset", "content", "text"),
    [
        ("iso-2022-jp", "これは".encode("iso-2022-jp"), "これは"),
        ("iso-2022-jp", "pumpe ë".encode(), "pumpe ë"),
        # Browsers decode iso-8859-1 as Windows-1252.
        ("iso-8859-1", b"\x80 5", "€ 5"),
        ("utf-7", b"+ADw-script+AD4-", "+ADw-script+AD4-"),
        ("no charset", "Zoë".encode(), "Zoë"),
    ],
)
def test_declared_encodings(charset: str, content: bytes, text: str) -> None:
    document = read_document(content, "a.txt", charset=charset)
    assert (document.reading.text, document.replaced) == (text, 0)


def test_guessed_encodings_are_recorded() -> None:
    text = "Быстрая лиса прыгает через ленивую собаку"
    document = read_document(text.encode("cp1251"), "a.txt")
    assert document.reading.guessed == ("cp1251",)
    assert (document.reading.text, document.replaced) == (text, 0)


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=400), st.sampled_from(["a.md", "a.mdx", "a.html", "a.txt", "a.kt", "a"]))
def test_any_bytes_give_a_document_or_a_reason(content: bytes, path: str) -> None:
    result = read(make_raw(content, path))
    if isinstance(result, Document):
        text = result.reading.text
        assert "\0" not in text
        assert "\r" not in text
        assert unicodedata.is_normalized("NFC", text)
        text.encode()


_MARKUP = st.lists(
    st.sampled_from(
        [
            *("# ", "b ", "\n", "\n\n", "    ", "---\n", "> ", "1. ", "\t"),
            *"a ``` ` | - [ ](x) <div> </div> <!-- --> * _ \\ &amp; {#x} = ]".split(),
        ]
    ),
    max_size=60,
).map("".join)


@settings(deadline=None, max_examples=200)
@given(_MARKUP, st.sampled_from(["a.md", "a.mdx", "a.html", "a.txt", "a.kt"]))
def test_offsets_are_in_order_and_within_the_text(text: str, path: str) -> None:
    result = read(make_raw(text, path))
    if isinstance(result, Document):
        reading = result.reading
        length = len(reading.text)
        for spans in (reading.headings, reading.blocks):
            offsets = [offset for span in spans for offset in (span.start, span.end)]
            assert offsets == sorted(offsets)
            assert all(reading.body_start <= offset <= length for offset in offsets) or not offsets
