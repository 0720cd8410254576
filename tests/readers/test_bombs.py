"""Hostile files: each is read or skipped with a reason, and nothing else is affected."""

import io
import json
import re
import socket
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from document_files import WORD, Text, docx, pack, paragraph, pdf, stream
from faults import EVERY_FAULT
from hypothesis import given, settings
from hypothesis import strategies as st
from ports import listen_on_any_address

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers.formats.packed import MAX_MEMBERS
from foundry.readers.sandbox.processes import Limits, Sandbox
from foundry.readers.sandbox.reading import read_apart

PAGE = [[Text(10, 600, "some words")]]
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
DTD = f'<!DOCTYPE a [<!ENTITY l0 "lol">{LAUGHS}]>'


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(memory=700_000_000, cpu=3, wall=60)) as shared:
        yield shared


def try_file(content: bytes, path: str, sandbox: Sandbox) -> Document | Skipped:
    return read_apart(RawDocument("s", path, path, content), sandbox)


def reason(content: bytes, path: str, sandbox: Sandbox) -> str:
    result = try_file(content, path, sandbox)
    assert isinstance(result, Skipped), result
    return result.reason


def zeros(size: int) -> bytes:
    """Return this many zero bytes (whole MiB), deflated, without holding them in memory."""
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    # After a full flush, the same input is encoded as the same bytes.
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = size % 65_521 << 16 | 1
    return b"\x78\xda" + piece * (size >> 20) + packer.flush() + checksum.to_bytes(4, "big")


@pytest.fixture
def canary() -> Iterator[list[str]]:
    """A server on loopback that records connections; its address is the first entry."""
    with listen_on_any_address() as server:
        server.settimeout(0.05)
        notes = [f"http://127.0.0.1:{server.getsockname()[1]}/x"]
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    server.accept()[0].close()
                    notes.append("connected")
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        yield notes
        over.set()
        thread.join()
    assert len(notes) == 1


@pytest.mark.slow
def test_streams_that_expand_without_end(sandbox: Sandbox) -> None:
    packed = zlib.compress(zeros(1 << 30), 9)
    content = (
        f"<</Length {len(packed)}/Filter[/FlateDecode/FlateDecode]>>stream\n".encode()
        + packed
        + b"\nendstream"
    )
    assert isinstance(try_file(pdf(PAGE, objects={11: content}), "a.pdf", sandbox), Skipped)


def test_a_predictor_of_huge_rows(sandbox: Sandbox) -> None:
    packed = zlib.compress(bytes(1000))
    parameters = "/DecodeParms<</Predictor 12/Columns 2147483647/Colors 32/BitsPerComponent 16>>"
    content = (
        f"<</Length {len(packed)}/Filter/FlateDecode{parameters}>>stream\n".encode()
        + packed
        + b"\nendstream"
    )
    assert isinstance(try_file(pdf(PAGE, objects={11: content}), "a.pdf", sandbox), Skipped)


def test_metadata_that_expands_without_end(sandbox: Sandbox) -> None:
    content = pdf(
        PAGE,
        objects={
            1: b"<</Type/Catalog/Pages 2 0 R/Metadata 6 0 R>>",
            6: stream(f"<?xml version='1.0'?>{DTD}<a>&l9;</a>".encode()),
        },
    )
    result = try_file(content, "a.pdf", sandbox)
    assert isinstance(result, Document)
    assert result.reading.text == "some words"


def test_a_font_whose_character_map_is_a_program(sandbox: Sandbox, tmp_path: Path) -> None:
    trap = tmp_path / "evil.pickle.gz"
    trap.write_bytes(b"cos\nsystem\n(S'touch canary'\ntR.")
    name = str(trap).removesuffix(".pickle.gz").replace("/", "#2F")
    font = f"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/{name}/DescendantFonts[6 0 R]>>"
    descendant = b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<<>>>>"
    result = try_file(pdf(PAGE, objects={3: font.encode(), 6: descendant}), "a.pdf", sandbox)
    assert isinstance(result, Document | Skipped)
    assert [path.name for path in tmp_path.iterdir()] == [trap.name]


def test_too_many_pages(sandbox: Sandbox) -> None:
    tree = f"<</Type/Pages/Kids[{'10 0 R ' * 50_000}]/Count 50000>>".encode()
    assert reason(pdf(PAGE, objects={2: tree}), "a.pdf", sandbox) == "too many pages"


def test_archive_that_expands_without_end(sandbox: Sandbox) -> None:
    content = docx(paragraph("words"), **{"word/media/a.bin": bytes(30_000_000)})
    assert len(content) < 1_000_000
    assert reason(content, "a.docx", sandbox) == "zip bomb"


def test_archive_with_false_sizes(sandbox: Sandbox) -> None:
    content = docx(paragraph("words"), **{"word/footnotes.xml": b"<a>" + b" " * 30_000_000})
    lying = content.replace(struct.pack("<I", 30_000_003), struct.pack("<I", 1_000))
    assert lying.count(struct.pack("<I", 1_000)) == 2
    assert reason(lying, "a.docx", sandbox) == "damaged"


@pytest.mark.slow
def test_archive_of_very_many_members(sandbox: Sandbox) -> None:
    content = pack({"word/document.xml": "", **{f"word/{n}": "" for n in range(MAX_MEMBERS)}})
    assert reason(content, "a.docx", sandbox) == "zip bomb"
    place = content.rindex(b"PK\5\6")
    hidden = content[: place + 8] + struct.pack("<HH", 3, 3) + content[place + 12 :]
    assert reason(hidden, "a.docx", sandbox) == "zip bomb"


def test_nested_archives_are_not_opened(sandbox: Sandbox) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(10_000_000))
    nested = docx(paragraph("words"), **{"word/embeddings/a.zip": inner.getvalue()})
    result = try_file(nested, "a.docx", sandbox)
    assert isinstance(result, Document)
    assert result.reading.text.strip() == "words"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_office_files_with_a_dtd_are_refused(
    encoding: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    document = (
        f'<?xml version="1.0" encoding="{encoding[:6]}"?><!DOCTYPE x ['
        f'<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document xmlns:w="{WORD}"><w:body>'
        f"{paragraph('words &e;')}</w:body></w:document>"
    )
    content = docx("", **{"word/document.xml": document.encode(encoding)})
    assert reason(content, "a.docx", sandbox) == "holds a DTD"


def test_nothing_is_fetched_for_a_document(sandbox: Sandbox, canary: list[str]) -> None:
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    outside = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r9" Type="{relation}/image" Target="{canary[0]}"'
        ' TargetMode="External"/>'
        f'<Relationship Id="r8" Type="{relation}/attachedTemplate" Target="{canary[0]}"'
        ' TargetMode="External"/></Relationships>'
    )
    drawing = (
        '<w:p><w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:imagedata'
        f' xmlns:r="{relation}" r:id="r9" title="Picture"/></w:pict></w:r></w:p>'
    )
    more = {
        "word/_rels/document.xml.rels": outside,
        "word/_rels/settings.xml.rels": outside,
        "word/settings.xml": "<a/>",
    }
    result = try_file(docx(paragraph("words") + drawing, **more), "a.docx", sandbox)
    assert isinstance(result, Document)
    page = f'<p>words<img src="{canary[0]}"><link rel="stylesheet" href="{canary[0]}">'
    mail = f"Subject: S\nContent-Type: text/html\n\n{page}"
    assert isinstance(try_file(mail.encode(), "a.eml", sandbox), Document)
    include = f"words\n\n.. include:: {canary[0]}\n.. csv-table::\n   :url: {canary[0]}\n"
    assert isinstance(try_file(include.encode(), "a.rst", sandbox), Document)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_truncated_files(part: float, sandbox: Sandbox) -> None:
    for content in (docx(paragraph("words " * 500)), pdf(PAGE * 3)):
        result = try_file(content[: int(part * len(content))], "a.bin", sandbox)
        assert isinstance(result, Document | Skipped)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"{DTD}<a>&l9;</a>", "holds a DTD"),
        ('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>', "holds a DTD"),
        ("<a>&undefined;</a>", "damaged"),
        ("<a>words", "damaged"),
        ("<a>" * 500_000 + "words" + "</a>" * 500_000, ""),
    ],
    ids=["laughs", "file", "entity", "open", "deep"],
)
def test_hostile_xml(content: str, expected: str, sandbox: Sandbox) -> None:
    assert reason(content.encode(), "a.xml", sandbox).startswith(expected)


def test_external_document_types_are_not_fetched(sandbox: Sandbox) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a.dtd"
        result = try_file(f'<!DOCTYPE a SYSTEM "{url}"><a>words</a>'.encode(), "a.xml", sandbox)
        assert isinstance(result, Document)
        assert result.reading.text == "words"
        with pytest.raises(TimeoutError):
            server.accept()


def test_distant_cells_do_not_fill_the_gap(sandbox: Sandbox) -> None:
    spreadsheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    cells = "".join(
        f'<row r="{row}"><c r="{name}" t="inlineStr"><is><t>x</t></is></c></row>'
        for row, name in ((1, "A1"), (1048576, "XFD1048576"))
    )
    content = pack(
        {
            "xl/workbook.xml": f'<workbook xmlns="{spreadsheet}" xmlns:r="{office}"><sheets>'
            '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": "<Relationships xmlns="
            '"http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"'
            f' Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{spreadsheet}"><sheetData>{cells}'
            "</sheetData></worksheet>",
        }
    )
    result = try_file(content, "a.xlsx", sandbox)
    # The gaps between the cells are not written out.
    assert isinstance(result, Document)
    assert len(result.reading.text) < 1_000
    assert result.reading.text.count("x") == 2


DEEP_MAIL = "".join(
    f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(2_000)
)


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ("{\\rtf1 " + "{" * 300_000 + "words", "a.rtf"),
        ("Subject: S\n" + DEEP_MAIL, "a.eml"),
        ("Subject: " + "=?utf-8?q?a?= " * 5_000 + "\n\nwords", "a.eml"),
        ("From: " + "(" * 20_000 + "\n\nwords", "a.eml"),
        ("> " * 2_000 + "words", "a.rst"),
        ("words " + "`" * 4_000 + "*" * 4_000 + "|" * 4_000, "a.rst"),
        ("- " * 400 + "words", "a.rst"),
    ],
    ids=["groups", "parts", "encoded", "comments", "quotes", "marks", "lists"],
)
@pytest.mark.slow
def test_hostile_markup_takes_bounded_time(content: str, path: str, sandbox: Sandbox) -> None:
    assert isinstance(try_file(content.encode(), path, sandbox), Document | Skipped)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "path"),
    [
        ("[" * 30_000, "a.json"),
        ('{"a":' * 30_000, "a.json"),
        ('{"cells": ' + "[" * 30_000, "a.ipynb"),
        (json.dumps({"cells": [{"cell_type": "code", "source": 7}]}), "a.ipynb"),
        (json.dumps({"cells": float("nan")}), "a.ipynb"),
        ('{"cells": ' + "9" * 5_000 + "}", "a.ipynb"),
        (
            json.dumps(
                {
                    "nbformat": 4,
                    "cells": [
                        {
                            "cell_type": "code",
                            "source": "1",
                            "outputs": [{"output_type": "stream", "text": "a " * 500_000}],
                        }
                    ],
                }
            ),
            "a.ipynb",
        ),
        ("a: " + "[" * 30_000, "a.yaml"),
        ("- " * 30_000 + "x", "a.yaml"),
        ("? " * 15_000 + "x", "a.yaml"),
        ("\\begin{verbatim}" * 15_000, "a.tex"),
        ("\\section{" * 15_000, "a.tex"),
        ("\\title{" + "{" * 30_000, "a.tex"),
        ("\\a[" * 30_000, "a.tex"),
        ("----\n" * 30_000 + "words", "a.adoc"),
        ("link:" * 30_000, "a.adoc"),
        (
            "image:a[" * 15_000 + "[[a" * 15_000 + "{a" * 15_000 + "kbd:" * 15_000 + "<<" * 15_000,
            "a.adoc",
        ),
        ("[a]\n" * 30_000 + "|===\n" + "9+|" * 30_000, "a.adoc"),
        ("00:00:01.000 --> 00:00:02.000\n<<<<\n" * 20_000 + "words", "a.srt"),
        ("[a" * 30_000, "a.toml"),
        (".SH A\n" + "a\\\n" * 30_000, "a.1"),
        (".SH A\n" + ".TS\n" * 15_000 + ".if t \\{\n" * 15_000, "a.1"),
        (".SH A\n" + ".de x\n" * 15_000 + "\\f(" * 15_000 + "\\[" * 15_000, "a.1"),
        ("#+begin_src\n" * 15_000 + ":A:\n" * 15_000, "a.org"),
        ("[[" * 15_000 + "=a" * 15_000 + "{{{a(" * 15_000, "a.org"),
        ("```{math}\n" * 15_000 + "{a}`" * 15_000, "a.md"),
        ("```{list-table}\n" + "* - a\n  - b\n" * 15_000, "a.md"),
    ],
    ids=lambda value: re.sub(r"\W", "", value[:12]) + str(len(value)),
)
def test_text_formats_take_linear_time(content: str, path: str, sandbox: Sandbox) -> None:
    result = try_file(content.encode(), path, sandbox)
    assert isinstance(result, Document) or "time" not in result.detail


SAMPLES = (
    docx(paragraph("Words", "Heading1") + paragraph("of a document")),
    pdf([*PAGE, *PAGE], outline=[("some words", 0)]),
    b"{\\rtf1\\ansi{\\info{\\title T}} words \\u8364?\\par}",
    pack(
        {"mimetype": "application/epub+zip", "META-INF/container.xml": "<a/>"}, stored=["mimetype"]
    ),
)


@settings(deadline=None, max_examples=75 if EVERY_FAULT else 30)
@given(
    st.sampled_from(SAMPLES),
    st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_damaged_files_give_a_document_or_a_reason(
    sandbox: Sandbox, content: bytes, changes: list[tuple[int, int]]
) -> None:
    damaged = bytearray(content)
    for place, value in changes:
        damaged[place % len(damaged)] = value
    assert isinstance(try_file(bytes(damaged), "a.bin", sandbox), Document | Skipped)
