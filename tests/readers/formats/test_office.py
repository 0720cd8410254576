"""Word, PowerPoint, spreadsheets, OpenDocument, EPUB, RTF, and Outlook's messages."""

import io
import struct
from datetime import datetime
from typing import Any

import pytest
import xlsxwriter
from document_files import compound, docx, pack, paragraph, read_document, reader_of
from pptx import Presentation
from pptx.util import Inches

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart

OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def read_file(content: bytes, sandbox: Sandbox) -> Document:
    return read_document(content, "a.bin", sandbox)


def outline(document: Document) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in document.reading.headings]


def test_word(sandbox: Sandbox) -> None:
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("Größe", "Maß"))
    rows = f"<w:tr>{cells}</w:tr>" * 2
    document = read_file(
        docx(
            paragraph("Aufbau", "Heading1")
            + paragraph("Erst lesen.")
            + paragraph("Teile", "Heading2")
            + f"<w:tbl>{rows}</w:tbl>"
        ),
        sandbox,
    )
    assert outline(document) == [(1, "Aufbau"), (2, "Teile")]
    assert (document.title, document.modified) == ("Handbuch", "2024-03-05T10:00:00Z")
    assert document.metadata == {"language": "de-DE"}
    assert "Erst lesen." in document.reading.text
    assert "| Größe | Maß |" in document.reading.text
    assert reader_of(document) == "docx"


M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def math(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            math("x=") + f"<m:f><m:num>{math('a+b')}</m:num><m:den>{math('2')}</m:den></m:f>",
            "x=(a+b)/2",
        ),
        (f"<m:sSup><m:e>{math('r')}</m:e><m:sup>{math('2')}</m:sup></m:sSup>", "r^2"),
        (f"<m:sSub><m:e>{math('c')}</m:e><m:sub>{math('i,j')}</m:sub></m:sSub>", "c_(i,j)"),
        (f"<m:rad><m:deg/><m:e>{math('y')}</m:e></m:rad>", "√(y)"),
        (f"<m:d><m:e>{math('p')}</m:e><m:e>{math('q')}</m:e></m:d>", "(p|q)"),
        (
            f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{math('1')}</m:sub>"
            f"<m:sup>{math('n')}</m:sup><m:e>{math('k')}</m:e></m:nary>",
            "∑_1^n k",
        ),
        (
            f"<m:m><m:mr><m:e>{math('1')}</m:e><m:e>{math('0')}</m:e></m:mr>"
            f"<m:mr><m:e>{math('0')}</m:e><m:e>{math('1')}</m:e></m:mr></m:m>",
            "[1, 0; 0, 1]",
        ),
    ],
)
def test_word_equations_are_text(markup: str, expected: str, sandbox: Sandbox) -> None:
    inline = paragraph("So ").replace("</w:p>", f"<m:oMath {M}>{markup}</m:oMath></w:p>")
    assert read_file(docx(inline), sandbox).reading.text == f"So {expected}"


def make_slides() -> bytes:
    presentation = Presentation()
    presentation.core_properties.title = "Plans"
    layout = presentation.slide_layouts[5]
    first = presentation.slides.add_slide(layout)
    first.shapes.title.text = "Goals"
    for top, text in ((4, "below"), (2, "above")):
        box = first.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(1))
        box.text_frame.text = text
    first.notes_slide.notes_text_frame.text = "Say hello."
    second = presentation.slides.add_slide(layout)
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(3), Inches(1)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"cell {row}|{column}"
    hidden = presentation.slides.add_slide(layout)
    hidden.shapes.title.text = "Secret"
    hidden.element.set("show", "0")
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def test_slides_are_sections_and_pages(sandbox: Sandbox) -> None:
    document = read_file(make_slides(), sandbox)
    text = document.reading.text
    assert outline(document) == [(2, "Goals"), (2, "Slide 2")]
    assert text.startswith("## Goals\n\nabove\n\nbelow\n\nNotes: Say hello.\n\n## Slide 2")
    assert "| cell 0\\|0 | cell 0\\|1 |\n| --- | --- |\n| cell 1\\|0 | cell 1\\|1 |" in text
    assert "Secret" not in text
    assert document.title == "Plans"
    assert document.reading.pages[:2] == (0, text.index("## Slide 2"))


def make_workbook(sheets: dict[str, list[list[Any]]], *, hidden: str = "") -> bytes:
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True, "default_date_format": "yyyy-mm-dd"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
        if name == hidden:
            sheet.hide()
    book.close()
    return buffer.getvalue()


def test_sheet_is_one_table(sandbox: Sandbox) -> None:
    rows = [["Part", "", "Price"], *([f"bolt {n}", "", n / 4] for n in range(100))]
    content = make_workbook({"Empty": [], "Parts": rows, "Old": [["x"]]}, hidden="Old")
    document = read_file(content, sandbox)
    reading = document.reading
    assert outline(document) == [(2, "Parts")]
    assert reading.text.startswith("## Parts\n\n| Part | Price |\n| --- | --- |\n| bolt 0 | 0 |\n")
    assert "| bolt 3 | 0.75 |" in reading.text
    (block,) = reading.blocks
    assert reading.text[block.start : block.end].count("bolt") == 100
    assert reading.pages == (0, 0, len(reading.text))


def merged(*ranges: str, rows: list[list[Any]]) -> bytes:
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True})
    sheet = book.add_worksheet("S")
    for area in ranges:
        sheet.merge_range(area, "")
    for number, row in enumerate(rows, start=1):
        # A cell that is merged into another one has no value of its own.
        for column, value in enumerate(row):
            if value != "":
                sheet.write(number, column + 1, value)
    book.close()
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("ranges", "rows", "text"),
    [
        (
            ("B2:D2", "C3:D3", "B3:B4"),
            [["Prices of 2026"], ["Part", "Germany"], ["", "EUR", "VAT"], ["bolt", 2, 19]],
            "Prices of 2026\n\n| Part | Germany EUR | Germany VAT |\n| --- | --- | --- |\n"
            "| bolt | 2 | 19 |",
        ),
        (
            ("C2:D2",),
            [["", "Germany"], ["Part", "EUR", "VAT"], ["bolt", 2, 19]],
            "| Part | Germany EUR | Germany VAT |\n| --- | --- | --- |\n| bolt | 2 | 19 |",
        ),
        (
            ("C2:D2",),
            [["Town", "Name"], ["Ulm", "Anna", "Meier"], ["Bonn", "Max", "Vogt"]],
            "| Town | Name | Name |\n| --- | --- | --- |\n| Ulm | Anna | Meier |",
        ),
        (
            ("B3:B4", "B5:C5", "B9:C9"),
            [["Kind", "Part"], ["screw", "M3"], ["", "M4"], ["Nuts"], ["nut", "M3"]],
            "| Kind | Part |\n| --- | --- |\n| screw | M3 |\n| screw | M4 |\n| Nuts |  |",
        ),
    ],
    ids=["title", "groups", "wide name", "rows"],
)
def test_merged_cells_are_filled(
    ranges: tuple[str, ...], rows: list[list[Any]], text: str, sandbox: Sandbox
) -> None:
    assert read_file(merged(*ranges, rows=rows), sandbox).reading.text.startswith(f"## S\n\n{text}")


def test_dates_and_whole_numbers_are_plain(sandbox: Sandbox) -> None:
    content = make_workbook({"S": [["When", "Count"], [datetime(2024, 3, 5), 3.0]]})
    assert "| 2024-03-05 | 3 |" in read_file(content, sandbox).reading.text


def opendocument(kind: str, body: str) -> bytes:
    spaces = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table"))
    content = (
        f'<office:document-content {spaces} xmlns:draw="{OFFICE}:drawing:1.0"><office:body>'
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    meta = '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Titel</dc:title></m>'
    members = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": content,
        "meta.xml": meta,
    }
    return pack(members, stored=["mimetype"])


def test_opendocument_text(sandbox: Sandbox) -> None:
    row = (
        '<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p>'
        "</table:table-cell></table:table-row>"
    )
    document = read_file(
        opendocument(
            "text",
            '<text:h text:outline-level="2">Anfang</text:h>'
            '<text:p>Ein<text:s text:c="2"/><text:span>Satz</text:span>'
            "<office:annotation><text:p>Notiz</text:p></office:annotation>.</text:p>"
            "<text:list><text:list-item><text:p>eins</text:p></text:list-item>"
            "<text:list-item><text:p>zwei</text:p></text:list-item></text:list>"
            f"<table:table>{row}{row}</table:table>",
        ),
        sandbox,
    )
    assert document.reading.text == (
        "## Anfang\n\nEin  Satz.\n\n- eins\n- zwei\n\n| x | x |\n| --- | --- |\n| x | x |"
    )
    assert (document.title, reader_of(document)) == ("Titel", "opendocument")


def test_opendocument_presentation(sandbox: Sandbox) -> None:
    slide = (
        "<draw:page><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
        "</draw:page>"
    )
    content = opendocument("presentation", slide.format("one") + slide.format("two"))
    reading = read_file(content, sandbox).reading
    assert (reading.text, reading.pages) == ("one\n\ntwo", (0, 5))


def test_epub(sandbox: Sandbox) -> None:
    chapter = (
        '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
        "<head><title/></head><body>{}</body></html>"
    )
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>Tales</dc:title><dc:language>en</dc:language>"
        "<dc:date>2023-02-01</dc:date></metadata><manifest>"
        '<item id="two" href="text/two%20.xhtml"/><item id="one" href="one.xhtml"/>'
        '<item id="nav" href="nav.xhtml" properties="nav"/></manifest>'
        '<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine>'
        "</package>"
    )
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": book,
        "OEBPS/nav.xhtml": chapter.format("<p>Contents</p>"),
        "OEBPS/one.xhtml": chapter.format('<h1>One</h1><a id="x"/><p>Once.</p>'),
        "OEBPS/text/two .xhtml": chapter.format("<h1>Two</h1><p>Twice.</p>"),
    }
    document = read_file(pack(members, stored=["mimetype"]), sandbox)
    assert document.reading.text.split() == "# One Once. # Two Twice.".split()
    assert outline(document) == [(1, "One"), (1, "Two")]
    text = document.reading.text
    assert [text[h.start : h.end] for h in document.reading.headings] == ["# One", "# Two"]
    assert (document.title, document.modified) == ("Tales", "2023-02-01")
    assert document.metadata == {"language": "en"}


def test_rich_text(sandbox: Sandbox) -> None:
    content = (
        rb"{\rtf1\ansi\ansicpg1252{\info{\title Report}{\revtim\yr2024\mo3\dy5}}"
        rb"Caf\'e9 {\b bold} \u8364?5\par Next}"
    )
    document = read_file(content, sandbox)
    assert document.reading.text == "Café bold €5\n\nNext"
    assert (document.title, document.modified) == ("Report", "2024-03-05")


def test_outlook(sandbox: Sandbox) -> None:
    sent = (datetime(2024, 3, 5, 10) - datetime(1601, 1, 1)).total_seconds()
    content = compound(
        {
            "__properties_version1.0": bytes(32)
            + struct.pack("<HHIQ", 0x40, 0x0E06, 2, 1)
            + struct.pack("<HHIQ", 0x40, 0x0039, 2, int(sent) * 10_000_000),
            "__substg1.0_0037001F": "Größe".encode("utf-16-le"),
            "__substg1.0_0C1A001E": b"Ann",
            "__substg1.0_0E04001F": "bob@example.org".encode("utf-16-le"),
            "__substg1.0_1000001F": "Some words.".encode("utf-16-le"),
            "__attach_version1.0_#00000000/__substg1.0_3707001F": "plan.pdf".encode("utf-16-le"),
        }
    )
    document = read_file(content, sandbox)
    assert document.reading.text == (
        "From: Ann\nTo: bob@example.org\nDate: 2024-03-05T10:00:00+00:00\n\nSome words.\n\n"
        "Attachments: plan.pdf"
    )
    assert (document.title, document.modified) == ("Größe", "2024-03-05T10:00:00Z")


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("EncryptedPackage", "encrypted"),
        ("WordDocument", "old Word is not supported"),
        ("PowerPoint Document", "old PowerPoint is not supported"),
    ],
)
def test_old_and_encrypted_office_files_have_reasons(
    stream: str, expected: str, sandbox: Sandbox
) -> None:
    content = compound({stream: b"x"})
    path = "a.xlsx" if expected == "encrypted" else "a"
    result = read_apart(RawDocument("s", path, path, content), sandbox)
    assert isinstance(result, Skipped)
    assert result.reason == expected
