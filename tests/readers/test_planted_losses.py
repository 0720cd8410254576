"""Real documents of each format are read completely, and words that a reader drops are counted.

Each document has the seven sentences of `SAID` in seven places. A faulty reader drops one of them.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from email.message import EmailMessage
from functools import cache
from typing import Any

import docx as python_docx
import openpyxl
import pptx
import pytest
from document_files import Text, pack, pdf
from openpyxl.comments import Comment
from pptx.util import Inches

from foundry import readers
from foundry.documents import Document, RawDocument, Reading
from foundry.readers import read
from foundry.readers.accounting.words import count_words
from foundry.readers.contract import FileReader, Reader

HEADING, PARAGRAPH, ITEM = "Wet seals", "Grease never freezes", "Tighten gently"
CELL, NOTE, ASIDE, CODE = "Copper 17", "Measured yesterday", "Beware lightning", "pump --dry"
SAID = (HEADING, PARAGRAPH, ITEM, CELL, NOTE, ASIDE, CODE)

Made = str | bytes


def markdown() -> str:
    return (
        f"# {HEADING}\n\n{PARAGRAPH}.[^1]\n\n- {ITEM}\n\n| Metal | mm |\n| --- | --- |\n"
        f"| Copper | 17 |\n\n:::warning\n{ASIDE}\n:::\n\n```sh title='x'\n{CODE}\n```\n\n"
        f"[^1]: {NOTE}\n"
    )


def page() -> str:
    return (
        f"<html><head><title>{HEADING}</title></head><body><main><h1>{HEADING}</h1>"
        f"<p>{PARAGRAPH.replace('never', 'ne<b>ver</b>')}.</p><ul><li>{ITEM}</li></ul>"
        "<table><tr><th>Metal</th><th>mm</th></tr><tr><td>Copper</td><td>17</td></tr></table>"
        f"<aside class='admonition'><p>{ASIDE}</p></aside><pre><code>{CODE}</code></pre>"
        f"<aside role='doc-footnote'><p>{NOTE}</p></aside></main></body></html>"
    )


def book() -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        '<rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
    )
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    members = {"META-INF/container.xml": container, "b.opf": opf, "a.xhtml": page()}
    return pack({"mimetype": "application/epub+zip", **members}, stored=["mimetype"])


def rest() -> str:
    return (
        f"{HEADING}\n=========\n\n{PARAGRAPH}. [#n]_\n\n* {ITEM}\n\n"
        "====== ==\nMetal  mm\n====== ==\n"
        f"Copper 17\n====== ==\n\n.. warning:: {ASIDE}\n\n.. code-block:: sh\n   :linenos:\n\n"
        f"   {CODE}\n\n.. [#n] {NOTE}\n"
    )


def asciidoc() -> str:
    return (
        f"= {HEADING}\n\n{PARAGRAPH}.footnote:[{NOTE}]\n\n* {ITEM}\n\n"
        "|===\n|Metal |mm\n\n|Copper |17\n"
        f"|===\n\nWARNING: {ASIDE}\n\n[source,sh]\n----\n{CODE}\n----\n"
    )


def latex() -> str:
    return (
        f"\\documentclass{{article}}\n\\begin{{document}}\n\\section{{{HEADING}}}\n{PARAGRAPH}."
        f"\\footnote{{{NOTE}}}\n\\begin{{itemize}}\\item {ITEM}\\end{{itemize}}\n"
        "\\begin{tabular}{ll}Metal & mm \\\\ Copper & 17 \\\\ \\end{tabular}\n"
        f"\\marginpar{{{ASIDE}}}\n\\begin{{verbatim}}\n{CODE}\n\\end{{verbatim}}\n\\end{{document}}\n"
    )


def org() -> str:
    return (
        f"* {HEADING}\n{PARAGRAPH}.[fn:1]\n- {ITEM}\n\n"
        "| Metal | mm |\n|-------+----|\n| Copper | 17 |\n\n"
        f"#+begin_quote\n{ASIDE}\n#+end_quote\n#+begin_src sh\n{CODE}\n#+end_src\n\n[fn:1] {NOTE}\n"
    )


def notebook() -> str:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": [markdown().replace(CODE, "ls")]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "source": [CODE],
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["Done quickly\n"]}],
        },
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def table() -> str:
    stream = io.StringIO()
    csv.writer(stream).writerows([["Metal", "mm", "Said"], ["Copper", "17", "\n".join(SAID)]])
    return stream.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@e.org", "b@e.org", HEADING
    message.set_content("\n\n".join(SAID))
    message.add_alternative(page(), subtype="html")
    return message.as_bytes()


def subtitles() -> str:
    cues = "\n\n".join(f"c{n}\n00:0{n}.000 --> 00:0{n}.900\n{said}" for n, said in enumerate(SAID))
    return f"WEBVTT\n\nNOTE nobody sees this\n\n{cues}\n"


def word() -> bytes:
    document = python_docx.Document()
    document.add_heading(HEADING)
    paragraph = document.add_paragraph("Grease ne")
    paragraph.add_run("ver").bold = True
    paragraph.add_run(" freezes.")
    document.add_paragraph(ITEM, style="List Number")
    cells = document.add_table(2, 2)
    for place, text in enumerate(("Metal", "mm", "Copper", "17")):
        cells.cell(*divmod(place, 2)).text = text
    document.sections[0].header.paragraphs[0].text = NOTE
    document.add_paragraph(ASIDE, style="Intense Quote")
    document.add_paragraph(CODE, style="Body Text")
    return _saved(document)


def slides() -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = HEADING
    slide.placeholders[1].text = f"{PARAGRAPH}\n{ITEM}"
    cells = slide.shapes.add_table(2, 2, *[Inches(2)] * 4).table
    for place, text in enumerate(("Metal", "mm", "Copper", "17")):
        cells.cell(*divmod(place, 2)).text = text
    slide.shapes.add_textbox(*[Inches(1)] * 4).text_frame.text = f"{ASIDE}\n{CODE}"
    slide.notes_slide.notes_text_frame.text = NOTE
    return _saved(presentation)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Metal", "mm", "Said", "Done"])
    sheet.append(["Copper", 17, HEADING, PARAGRAPH])
    sheet.append(["Tin", 3, ITEM, ASIDE])
    sheet.append(["Iron", 4, CODE, NOTE])
    sheet["A2"].comment = Comment("Who says so?", "A")
    return _saved(book)


def portable() -> bytes:
    return pdf([[Text(40, 700 - 30 * place, f"{said}.") for place, said in enumerate(SAID)]])


def rich() -> str:
    rows = "\\trowd Copper\\cell 17\\cell\\row"
    divided = PARAGRAPH.replace("never", "ne{\\b ver}")
    return (
        "{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}{\\info{\\author Nobody}}\\pard "
        f"{HEADING}\\par {divided}{{\\footnote {NOTE}}}\\par {ITEM}\\par\n"
        f"{rows}\\pard {ASIDE}\\par {CODE}\\par}}"
    )


def _saved(document: Any) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


WRITERS: dict[str, Callable[[], Made]] = {
    "a.md": markdown,
    "a.html": page,
    "a.epub": book,
    "a.rst": rest,
    "a.adoc": asciidoc,
    "a.tex": latex,
    "a.org": org,
    "a.ipynb": notebook,
    "a.csv": table,
    "a.eml": mail,
    "a.vtt": subtitles,
    "a.docx": word,
    "a.pptx": slides,
    "a.xlsx": workbook,
    "a.pdf": portable,
    "a.rtf": rich,
}


@cache
def written(path: str) -> bytes:
    content = WRITERS[path]()
    return content.encode() if isinstance(content, str) else content


def read_written(path: str) -> Document:
    document = read(RawDocument("s", path, path, written(path)), is_worker=True)
    assert isinstance(document, Document), document
    return document


@pytest.mark.parametrize("path", WRITERS)
def test_files_of_writers_are_read_completely(path: str) -> None:
    reading = read_written(path).reading
    assert reading.words is not None
    assert reading.unaccounted == ()
    assert reading.words.source >= count_words(" ".join(SAID)).total() - 1
    assert reading.words.source == reading.words.read + sum(reading.words.left_out.values())


Lose = Callable[[str], str]


def plant(monkeypatch: pytest.MonkeyPatch, lose: Lose) -> None:
    """Make every reader drop words of its text without reporting it."""

    def losing(chosen: tuple[Reader | FileReader, str] | None) -> Any:
        if chosen is None:
            return None
        reader, media_type = chosen
        whole: Callable[[Any], Reading] = reader.read

        def read_less(content: Any) -> Reading:
            reading = whole(content)
            return replace(reading, text=lose(reading.text), title=lose(reading.title or ""))

        return replace(reader, read=read_less), media_type

    for name in ("choose", "find_by_kind"):
        choose = getattr(readers, name)
        monkeypatch.setattr(readers, name, lambda raw, choose=choose: losing(choose(raw)))


@pytest.mark.parametrize("path", WRITERS)
def test_loss_of_text_in_any_place_is_noticed(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: Counter[str] = Counter()
    # A document without any text would be skipped.
    for said in (" ".join(SAID[:4]), " ".join(SAID[4:])):

        def lose(text: str, said: str = said) -> str:
            for word in said.split():
                lost[word] += text.count(word)
                text = text.replace(word, " " * len(word))
            return text

        with monkeypatch.context() as patch:
            plant(patch, lose)
            unaccounted = read_written(path).reading.unaccounted
        # Numbers in sheets can be shown in any format, so only words are checked.
        assert {*unaccounted} == {*count_words(said)} - ({"17"} if path == "a.xlsx" else set())
    assert all(lost.values())


@pytest.mark.parametrize("path", ["a.md", "a.html", "a.rst", "a.adoc", "a.tex", "a.org"])
def test_loss_of_paragraphs_is_noticed(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    paragraphs = [f"Paragraph {number} speaks of item{number}." for number in range(40)]
    joint = "</p><p>" if path == "a.html" else "\n\n"
    source = joint.join(paragraphs)

    def lose(text: str) -> str:
        parts = text.split("\n\n")
        return "\n\n".join(
            part if place % 2 else " " * len(part) for place, part in enumerate(parts, 1)
        )

    plant(monkeypatch, lose)
    written_so = f"<p>{source}</p>" if path == "a.html" else source
    document = read(RawDocument("s", path, path, written_so.encode()), is_worker=True)
    assert isinstance(document, Document)
    words = document.reading.words
    assert words is not None
    missing = count_words(" ".join(paragraphs)) - count_words(document.reading.text)
    assert words.unaccounted == missing.total() > 0
    assert {*document.reading.unaccounted} == {*missing}
