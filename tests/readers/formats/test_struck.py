"""Struck text is marked in every format, and not joined to the text that replaces it."""

import io
from collections.abc import Callable
from typing import Any

import docx as python_docx
import openpyxl
import pptx
import pytest
from document_files import docx, pack, paragraph, read_document
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx.util import Inches

DOCBOOK = '<article><title>T</title><para>Pay <emphasis role="{}">50</emphasis>40.</para></article>'
URN = "urn:oasis:names:tc:opendocument:xmlns"


def text_of(name: str, content: bytes) -> str:
    return read_document(content, name).reading.text


def saved(made: Any) -> bytes:
    written = io.BytesIO()
    made.save(written)
    return written.getvalue()


def word() -> bytes:
    made = python_docx.Document()
    style = made.styles.add_style("Gone", 2)
    style.font.strike = True
    line = made.add_paragraph("Pay ")
    line.add_run("5").font.strike = True
    line.add_run("0").font.double_strike = True
    line.add_run("40. ")
    line.add_run("Old", "Gone")
    line.add_run("new", "Gone").font.strike = False
    return saved(made)


def slides() -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    line = slide.shapes.add_textbox(*map(Inches, (1, 1, 5, 1))).text_frame.paragraphs[0]
    for text, strike in (("Pay ", "noStrike"), ("50", "sngStrike"), ("40.", "")):
        run = line.add_run()
        run.text = text
        if strike:
            run.font._element.set("strike", strike)
    return saved(made)


def open_document() -> bytes:
    names = " ".join(f'xmlns:{name}="{URN}:{name}:1.0"' for name in ("office", "text", "style"))
    line = '<style:text-properties style:text-line-through-style="{}"/></style:style>'
    styles = '<style:style style:name="a" style:family="text">' + line.format("solid")
    styles += '<style:style style:name="b" style:parent-style-name="a" style:family="text">'
    styles += line.format("none")
    text = '<text:p>Pay <text:span text:style-name="a">50</text:span>40.'
    text += '<text:span text:style-name="b"> New.</text:span></text:p>'
    content = f"<office:document-content {names}><office:automatic-styles>{styles}"
    content += f"</office:automatic-styles><office:body><office:text>{text}</office:text>"
    kind = "application/vnd.oasis.opendocument.text"
    content += "</office:body></office:document-content>"
    return pack({"mimetype": kind, "content.xml": content}, stored=["mimetype"])


def sheet() -> bytes:
    made = openpyxl.Workbook()
    shown = CellRichText("Pay ", TextBlock(InlineFont(strike=True), "50"), "40.")
    made.active.append(["Fruit", shown])
    made.active.append(["Plum", 7])
    made.active["B2"].font = Font(strike=True)
    return saved(made)


@pytest.mark.parametrize(
    ("name", "made", "shown"),
    [
        ("a.docx", word, "Pay ~~50~~ 40. ~~Old~~ new"),
        ("a.pptx", slides, "## Slide 1\n\nPay ~~50~~ 40."),
        ("a.odt", open_document, "Pay ~~50~~ 40. New."),
        ("a.xlsx", sheet, "| Fruit | Pay ~~50~~ 40. |\n| --- | --- |\n| Plum | ~~7~~ |"),
    ],
)
def test_struck_text_in_office_files_is_marked(
    name: str, made: Callable[[], bytes], shown: str
) -> None:
    assert text_of(name, made()).endswith(shown)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.rtf", r"{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}Pay \strike 50\strike0 40.\par}"),
        ("a.rtf", r"{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}Pay {\striked1 50}40.\par}"),
        ("a.html", "<p>Pay <span style='color: red; text-decoration:line-through'>50</span>40."),
        ("a.md", "Pay <s>50</s>40."),
        ("a.wiki", "Pay <del>50</del>40."),
        ("a.adoc", "Pay [.line-through]##50##40."),
        ("a.tex", r"Pay \sout{50}40."),
        ("a.xml", DOCBOOK.format("strikethrough")),
    ],
)
def test_struck_text_in_markup_is_marked(name: str, source: str) -> None:
    assert text_of(name, source.encode()).removeprefix("# T\n\n").strip() == "Pay ~~50~~ 40."


def test_text_that_is_not_struck_is_not_marked() -> None:
    assert text_of("a.md", b"An <s>open tag, and <del> </del>nothing.") == (
        "An <s>open tag, and  nothing."
    )
    assert text_of("a.docx", docx(paragraph("10"))) == "10"
