"""Slides as python-pptx and PowerPoint write them."""

import datetime
import io
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl
import pptx
import pytest
from document_files import read_document, read_whole
from PIL import Image
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml import parse_xml
from pptx.util import Inches

from foundry.documents import Document
from foundry.documents.left_out import Omission

NAMES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
PLACE = tuple(map(Inches, (1, 2, 5, 3)))


def deck(
    *fills: Callable[[Any], object], change: dict[str, tuple[bytes, bytes]] | None = None
) -> bytes:
    presentation = pptx.Presentation()
    for fill in fills:
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = "Harvest"
        fill(slide)
    stored = io.BytesIO()
    presentation.save(stored)
    # Embedded documents are stored unchanged, as PowerPoint does.
    source, written = zipfile.ZipFile(stored), io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            method = zipfile.ZIP_STORED if "embeddings/" in name else zipfile.ZIP_DEFLATED
            content = source.read(name).replace(*(change or {}).get(name, (b"", b"")))
            archive.writestr(name, content, method)
    return written.getvalue()


def read_deck(content: bytes, path: str = "a.pptx") -> Document:
    return read_document(content, path)


def text_of(*fills: Callable[[Any], object]) -> str:
    return read_deck(deck(*fills)).reading.text.removeprefix("## Harvest\n\n")


def box(slide: Any, text: str, left: float, top: float) -> Any:
    frame = slide.shapes.add_textbox(*map(Inches, (left, top, 3, 1))).text_frame
    frame.text = text
    return frame


def test_shapes_side_by_side_are_read_from_the_left() -> None:
    def fill(slide: Any) -> None:
        for text, left, top in (
            ("right", 5, 2.0),
            ("left", 1, 2.03),
            ("below", 1, 4),
            ("top", 6, 1),
        ):
            box(slide, text, left, top)

    assert text_of(fill) == "top\n\nleft\n\nright\n\nbelow"


def test_pictures_are_named() -> None:
    stored = io.BytesIO()
    Image.new("RGB", (3, 3)).save(stored, "PNG")

    def fill(slide: Any) -> None:
        slide.shapes.add_picture(stored, *PLACE[:2])._element.nvPicPr.cNvPr.set("descr", "A pump")

    assert text_of(fill) == "![A pump](image1.png)"


def test_one_alternative_is_read_and_equations_are_text() -> None:
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="20" name="T"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        "<p:txBody><a:bodyPr/><a:p><a:r><a:t>Speed is </a:t></a:r><m:oMath><m:f><m:num><m:r><m:t>s"
        "</m:t></m:r></m:num><m:den><m:r><m:t>t</m:t></m:r></m:den></m:f></m:oMath></a:p></p:txBody>"
        "</p:sp>"
    )
    both = f"<mc:Choice Requires='a14'>{shape}</mc:Choice><mc:Fallback>{shape}</mc:Fallback>"
    alternatives = f"<mc:AlternateContent {NAMES}>{both}</mc:AlternateContent>"
    document = read_deck(deck(lambda slide: slide.shapes._spTree.append(parse_xml(alternatives))))
    assert document.reading.text == "## Harvest\n\nSpeed is s/t"
    assert document.reading.left_out[0].reason is Omission.DUPLICATE


def test_charts_are_tables() -> None:
    def levels(slide: Any) -> None:
        data = CategoryChartData()
        year = data.add_category("2024")
        for quarter in ("Q1", "Q2"):
            year.add_sub_category(quarter)
        data.add_series("Tons", (3, 4.5))
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *PLACE, data)

    def points(slide: Any) -> None:
        data = XyChartData()
        data.add_series("Yield").add_data_point(1.5, 20.5)
        slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *PLACE, data)

    def dates(slide: Any) -> None:
        data = CategoryChartData()
        data.categories = [datetime.date(2024, 5, 3)]
        data.add_series("Tons", (3,))
        slide.shapes.add_chart(XL_CHART_TYPE.LINE, *PLACE, data)

    assert "|  |  | Tons |\n| --- | --- | --- |\n| 2024 | Q1 | 3 |\n| 2024 | Q2 | 4.5 |" in text_of(
        levels
    )
    assert "| x | Yield |\n| --- | --- |\n| 1.5 | 20.5 |" in text_of(points)
    assert "| 2024-05-03 | 3 |" in text_of(dates)


def test_boxes_before_paragraphs_are_shown() -> None:
    def boxes(slide: Any) -> None:
        frame = box(slide, "paid", 1, 2)
        frame.add_paragraph().text = "other"
        for paragraph, sign in zip(frame.paragraphs, ("\u00fe", "\u00d8"), strict=True):
            properties = paragraph._p.get_or_add_pPr()
            properties.append(parse_xml(f'<a:buFont {NAMES} typeface="Wingdings"/>'))
            properties.append(parse_xml(f'<a:buChar {NAMES} char="{sign}"/>'))

    assert text_of(boxes) == "\u2611 paid\nother"


def test_merged_cells_numbers_powers_and_links() -> None:
    def table(slide: Any) -> None:
        cells = slide.shapes.add_table(3, 2, *PLACE).table
        for row, values in enumerate((("Fruit", "Kg"), ("Plum", "1"), ("", "2"))):
            for column, value in enumerate(values):
                cells.cell(row, column).text = value
        cells.cell(1, 0).merge(cells.cell(2, 0))

    def lists(slide: Any) -> None:
        frame = box(slide, "one", 1, 2)
        frame.add_paragraph().text = "two"
        for paragraph in frame.paragraphs:
            number = f'<a:buAutoNum {NAMES} type="arabicPeriod" startAt="1200"/>'
            paragraph._p.get_or_add_pPr().append(parse_xml(number))
        last = frame.add_paragraph()
        last.add_run().text = "10"
        power = last.add_run()
        power.text = "6"
        power.font._element.set("baseline", "30000")
        link = last.add_run()
        link.text = " a site"
        link.hyperlink.address = "https://example.org/a"

    assert "| Fruit | Kg |\n| --- | --- |\n| Plum | 1 |\n| Plum | 2 |" in text_of(table)

    def clicked(slide: Any) -> None:
        box(slide, "The site", 1, 2)
        list(slide.shapes)[-1].click_action.hyperlink.address = "https://example.org/b"

    assert text_of(clicked) == "[The site](https://example.org/b)"
    assert text_of(lists) == "1200. one\n1201. two\n10^6 [a site](https://example.org/a)"


def test_hidden_and_repeated_text_is_reported() -> None:
    def hidden(slide: Any) -> None:
        slide.element.set("show", "0")

    def shapes(slide: Any) -> None:
        box(slide, "shown", 1, 2)
        box(slide, "veiled", 1, 3)._element.getparent().nvSpPr.cNvPr.set("hidden", "1")

    document = read_deck(deck(shapes, hidden))
    assert document.reading.text == "## Harvest\n\nshown"
    told = [each.text for each in document.reading.left_out if each.reason is not Omission.METADATA]
    assert told == ["veiled", "## Harvest"]


def test_charts_and_notes_of_hidden_slides_are_told() -> None:
    def fill(slide: Any) -> None:
        data = CategoryChartData()
        data.categories = ["Quince", "Medlar"]
        data.add_series("Tons", (3, 4))
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 99, 99, data)
        slide.notes_slide.notes_text_frame.text = "Whispered"
        slide._element.set("show", "0")

    reading = read_whole(deck(lambda _: None, fill), "a.pptx").reading
    assert reading.text == "## Harvest"
    told = [each.text for each in reading.left_out if each.reason is Omission.HIDDEN]
    assert len(told) == 1
    assert "Quince" in told[0]
    assert "Notes: Whispered" in told[0]


def test_missing_slides_are_reported() -> None:
    change = {"ppt/_rels/presentation.xml.rels": (b"slides/slide2.xml", b"slides/gone.xml")}
    content = deck(lambda _: None, lambda _: None, lambda _: None, change=change)
    reading = read_deck(content).reading
    assert len(reading.pages) == 3
    assert reading.damaged == ("slide 2",)


@pytest.mark.parametrize(
    ("suffix", "kind"), [("ppsx", "slideshow"), ("potx", "template"), ("pptm", "macroEnabled")]
)
def test_shows_and_templates(suffix: str, kind: str) -> None:
    change = {"[Content_Types].xml": (b"presentation.main+xml", f"{kind}.main+xml".encode())}
    content = deck(lambda _: None, change=change)
    assert read_deck(content, f"a.{suffix}").reading.text == "## Harvest"


def test_embedded_workbooks_and_descriptions_of_tables_are_read() -> None:
    def fill(slide: Any) -> None:
        stored = io.BytesIO()
        book = openpyxl.Workbook()
        book.active.append(["Plum", "Persimmon"])
        book.save(stored)
        stored.seek(0)
        slide.shapes.add_ole_object(stored, "Excel.Sheet.12", *PLACE[:2])
        table = slide.shapes.add_table(1, 1, *PLACE)
        table.table.cell(0, 0).text = "Cherry"
        table._element.nvGraphicFramePr.cNvPr.set("descr", "Fruit of May")

    text = text_of(fill)
    assert "Plum, Persimmon" in text
    assert "![Fruit of May]()\n\n| Cherry |" in text
