"""Sheets as openpyxl, XlsxWriter and Excel write them, and delimited text."""

import datetime
import io
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from document_files import pack, read_document, read_whole
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table, TableColumn
from PIL import Image

from foundry.documents import Document
from foundry.documents.left_out import Omission
from foundry.readers.formats.office.number_formats import show_number, show_text

EURO = '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (42, "00000", "00042"),
        (0.075, "0.0%", "7.5%"),
        (0.256, "0.0 %", "25.6 %"),
        (26 / 24 + 5 / 1440, "[h]:mm", "26:05"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR"),
        (1234.5, "#,##0.00\\ [$EUR]", "1,234.50 EUR"),
        (1234.5, EURO, "1,234.50 €"),
        (0, EURO, "- €"),
        (-1234.5, "#,##0.00_);[Red](#,##0.00)", "(1,234.50)"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (123456789, "0.00E+00", "1.23E+08"),
        (1234567, '0.0,,"M"', "1.2M"),
        (1234, '[>=1000]0.0,"k";0', "1.2k"),
        (0.125, "0.00", "0.13"),
        (3.25, "# ?/?", "3 1/4"),
        (5, "0.##", "5"),
        (0.1 + 0.2, "General", "0.3"),
        (45415, "dd.mm.yyyy", "03.05.2024"),
        (45415, "mmm yy", "May 24"),
        (45415.5, "m/d/yy h:mm AM/PM", "5/3/24 12:00 PM"),
        (45415, "yyyy-mm-dd h:mm:ss", "2024-05-03"),
        (45415, "[$-407]d. mmmm yyyy", "2024-05-03"),
        (45415, "[$-409]d-mmm-yy;@", "3-May-24"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (61, "yyyy-mm-dd", "1900-03-01"),
    ],
)
def test_numbers_are_formatted(value: float, code: str, shown: str) -> None:
    assert show_number(value, code) == shown


def test_formats_of_texts_and_other_days() -> None:
    assert show_text("7", '"No. "@') == "No. 7"
    assert show_number(43953, "yyyy-mm-dd", is_1904=True) == "2024-05-03"
    assert show_number(float("inf"), "0") == "inf"


def book(fill: Callable[[Any], object]) -> bytes:
    made = openpyxl.Workbook()
    fill(made.active)
    written = io.BytesIO()
    made.save(written)
    return written.getvalue()


def read_book(content: bytes, path: str = "a.xlsx") -> Document:
    return read_document(content, path)


def rows(*written: list[Any]) -> bytes:
    return book(lambda sheet: [sheet.append(row) for row in written])


def text_of(content: bytes) -> str:
    return read_book(content).reading.text.removeprefix("## Sheet\n\n")


def table(*lines: str) -> str:
    columns = lines[0].count("|") - 1
    return "\n".join([lines[0], "|" + " --- |" * columns, *lines[1:]])


def test_cells_are_read_as_shown() -> None:
    def fill(sheet: Any) -> None:
        values: list[tuple[Any, str]] = [
            *((42, "00000"), (0.075, "0.0%"), (datetime.timedelta(hours=26, minutes=5), "[h]:mm")),
            *((datetime.datetime(2024, 5, 3), "yyyy-mm-dd h:mm:ss"), (True, "General")),
            *(("=1/0", "General"), (1234.5, '#,##0.00 "EUR"')),
        ]
        sheet.append(["n", "value"])
        for number, (value, code) in enumerate(values):
            sheet.append([number, value])
            sheet.cell(number + 2, 2).number_format = code

    lines = text_of(book(fill)).splitlines()[2:]
    shown = [line.split(" | ")[1].removesuffix(" |") for line in lines]
    assert shown == ["00042", "7.5%", "26:05", "2024-05-03", "TRUE", "=1/0", "1,234.50 EUR"]


def test_errors_and_texts_of_formulas() -> None:
    cells = (
        '<c r="A1" t="inlineStr"><is><r><t>Na</t></r><r><t>me</t></r></is></c>'
        '<c r="B1" t="str"><f>"x"</f><v>made</v></c><c r="C1" t="str"><f>""</f><v></v></c>'
    )
    more = '<c r="A2" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="B2" t="b"><v>0</v></c>'
    names = "http://schemas.openxmlformats.org"
    relation = f'Type="{names}/officeDocument/2006/relationships'
    rels = f'<Relationships xmlns="{names}/package/2006/relationships">'
    content = pack(
        {
            "_rels/.rels": f'{rels}<Relationship Id="a" {relation}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{names}/spreadsheetml/2006/main" xmlns:r="{names}'
            '/officeDocument/2006/relationships"><sheets><sheet name="S" r:id="s"/></sheets>'
            "</workbook>",
            "xl/_rels/workbook.xml.rels": f'{rels}<Relationship Id="s" {relation}/worksheet" '
            'Target="/xl/one.xml"/></Relationships>',
            "xl/one.xml": f'<x:worksheet xmlns:x="{names}/spreadsheetml/2006/main"><x:sheetData>'
            + f"<row>{cells}</row><row>{more}</row>".replace("<", "<x:").replace("<x:/", "</x:")
            + "</x:sheetData></x:worksheet>",
        }
    )
    expected = table("| Name | made |", "| #DIV/0! | FALSE |")
    assert read_book(content).reading.text == f"## S\n\n{expected}"


def test_escaped_characters_of_texts() -> None:
    def fill(sheet: Any) -> None:
        sheet.append(["name", "code"])
        sheet.append(["one_x000D_\ntwo", "_x005F_x0041_"])

    document = read_book(book(fill))
    assert document.reading.text.splitlines()[4] == "| one two | _x0041_ |"
    assert document.reading.words is not None
    assert document.reading.words.unaccounted == 0


def test_tables_below_and_beside_each_other() -> None:
    two = rows(["Fruit", "Price"], ["Plum", 3], [], [], ["Warden", "Phone"], ["Orla", 5551])
    parts = table("| Fruit | Price |", "| Plum | 3 |"), table(
        "| Warden | Phone |", "| Orla | 5551 |"
    )
    assert text_of(two) == "\n\n".join(parts)
    near = rows(["Fruit", "Price"], ["Plum", 3], [], ["Warden", "Phone"], ["Orla", 5551])
    assert text_of(near) == "\n\n".join(parts)
    gap = rows(["Fruit", "Price"], ["Plum", 3], [], ["Fig", 4])
    assert text_of(gap) == table("| Fruit | Price |", "| Plum | 3 |", "| Fig | 4 |")
    beside = rows(
        ["Fruit", "Kg", None, "Warden", "Phone"], ["Plum", 3, None, "Orla", 5551], ["Fig", 4]
    )
    assert text_of(beside) == "\n\n".join(
        (table("| Fruit | Kg |", "| Plum | 3 |", "| Fig | 4 |"), parts[1])
    )


def declare(sheet: Any, *areas: str, headers: bool = True) -> None:
    for number, area in enumerate(areas):
        made = Table(displayName=f"T{number}", ref=area, headerRowCount=None if headers else 0)
        if not headers:
            made.tableColumns = [
                TableColumn(id=n, name=name) for n, name in ((1, "Fruit"), (2, "Kg"))
            ]
        sheet.add_table(made)


def test_adjacent_declared_tables_are_separate() -> None:
    def fill(sheet: Any) -> None:
        for row in (
            ["Stock of May"],
            ["Fruit", "Kg", "Warden", "Phone", None, "as told"],
            ["Plum", 3, "Orla", 5551],
            ["All", 3, "Finn", 5552],
            ["Size", "Price", "Notes"],
            ["small", 2, "soon"],
            [],
        ):
            sheet.append(row)
        declare(sheet, "A2:B4", "C2:D4", "A5:B7")

    assert text_of(book(fill)) == "\n\n".join(
        (
            "Stock of May",
            table("| Fruit | Kg |", "| Plum | 3 |", "| All | 3 |"),
            table("| Warden | Phone |", "| Orla | 5551 |", "| Finn | 5552 |"),
            "as told",
            # The last column was added next to its table.
            table("| Size | Price | Notes |", "| small | 2 | soon |"),
        )
    )


def test_declared_tables_without_a_header_row_have_their_names() -> None:
    def fill(sheet: Any) -> None:
        for row in (["Plum", 3], ["Fig", 4]):
            sheet.append(row)
        declare(sheet, "A1:B2", headers=False)

    assert text_of(book(fill)) == table("| Fruit | Kg |", "| Plum | 3 |", "| Fig | 4 |")


@pytest.mark.parametrize("areas", [("A1:B2", "A2:B3"), ("A1:XFD1048576", "B2:B3"), ("nowhere",)])
def test_impossible_tables_are_ignored(areas: tuple[str, ...]) -> None:
    written = [["Fruit", "Kg"], ["Plum", 3], ["Fig", 4]]
    plain = rows(*written)

    def fill(sheet: Any) -> None:
        for row in written:
            sheet.append(row)
        declare(sheet, *(area if ":" in area else "A1:B3" for area in areas))

    made = book(fill)
    if "nowhere" in areas:
        with zipfile.ZipFile(io.BytesIO(made)) as archive:
            parts = {each: archive.read(each) for each in archive.namelist()}
        part = parts["xl/tables/table1.xml"]
        parts["xl/tables/table1.xml"] = part.replace(b'ref="A1:B3"', b'ref="nowhere"')
        made = pack(parts)
    assert text_of(made) == text_of(plain)


def test_titles_are_above_their_table() -> None:
    content = rows(["Report"], ["Date:", "2024-05-03"], [], ["Fruit", "Kg"], ["Plum", 5])
    assert text_of(content) == "Report\n\nDate: 2024-05-03\n\n" + table(
        "| Fruit | Kg |", "| Plum | 5 |"
    )
    pairs = rows(["Name:", "Plum"], ["Kg:", 5])
    assert text_of(pairs) == table("| Name: | Plum |", "| Kg: | 5 |")


def test_hidden_content_is_reported() -> None:
    def fill(sheet: Any) -> None:
        for row in (["Fruit", "Code"], ["Plum", "x1"], ["Fig", "x2"]):
            sheet.append(row)
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True
        sheet["A1"].comment = Comment("Really?", "Ann")
        sheet["A2"].hyperlink = "https://example.org/plum"
        other = sheet.parent.create_sheet("Old")
        other["A1"] = "secret"
        asked = DataValidation(prompt="Whispered")
        asked.add("A2:A9")
        other.add_data_validation(asked)
        other.sheet_state = "hidden"

    document = read_book(book(fill))
    assert document.reading.text == (
        "## Sheet\n\n" + table("| Fruit |", "| [Plum](https://example.org/plum) |")
    )
    told = {(each.reason, each.text) for each in document.reading.left_out}
    assert (Omission.HIDDEN, "Fig") in told
    hidden = next(text for _, text in told if "secret" in text)
    assert "Whispered" in hidden
    assert any(reason is Omission.COMMENT and "Really?" in text for reason, text in told)


def test_missing_sheets_are_reported() -> None:
    made = openpyxl.Workbook()
    for name in ("Plums", "Figs"):
        made.create_sheet(name).append([f"{name} words"])
    written = io.BytesIO()
    made.save(written)
    with zipfile.ZipFile(written) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    del members["xl/worksheets/sheet2.xml"]
    reading = read_book(pack(members)).reading
    assert reading.text == "## Figs\n\nFigs words"
    assert reading.damaged == ("sheet Plums",)


def test_pictures_on_sheets_are_named() -> None:
    stored = io.BytesIO()
    Image.new("RGB", (3, 3)).save(stored, "PNG")

    def fill(sheet: Any) -> None:
        sheet.append(["Pump"])
        sheet.add_image(openpyxl.drawing.image.Image(stored), "B2")

    assert text_of(book(fill)).endswith("![Picture](image1.png)")


def test_charts_on_sheets() -> None:
    def fill(sheet: Any) -> None:
        for row in (["Fruit", "Kg"], ["Plum", 3]):
            sheet.append(row)
        chart = BarChart()
        chart.title = "Harvest"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=2), titles_from_data=True)
        sheet.add_chart(chart, "D2")

    assert "\n\nHarvest" in text_of(book(fill))


def read_csv(text: str) -> str:
    return read_book(text.encode(), "a.csv").reading.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sep=;\r\nName;Preis\r\nPflaume;3,50\r\n", ("| Name | Preis |", "| Pflaume | 3,50 |")),
        ("a,b;c\n1,5;2\n2,5;3\n", ("| a,b | c |", "| 1,5 | 2 |", "| 2,5 | 3 |")),
        ("a\tb, c\n1\t2\n", ("| a | b, c |", "| 1 | 2 |")),
        ('a,b\n"x\ny",2\n', ("| a | b |", "| x y | 2 |")),
    ],
)
def test_delimiters(text: str, expected: tuple[str, ...]) -> None:
    assert read_csv(text) == table(*expected)


def test_titles_of_delimited_text() -> None:
    expected = table("| Name | Price |", "| Plum | 3 |", "| Fig | 4 |")
    for title in ("Report of May, 2024\n\n", "Report\nof May\n", "# Report of May\n"):
        text = read_csv(f"{title}Name,Price\nPlum,3\nFig,4\n")
        assert text == f"{title.strip()}\n\n{expected}"


@pytest.mark.parametrize("title", ["", "Report of May, 2024\n"])
def test_header_may_lack_its_first_cell(title: str) -> None:
    # As `write.table(sep = ",")` of R and `to_csv(index_label=False)` of pandas write it.
    text = read_csv(f'{title}"kg","price"\n"plum",3,1.5\n"fig",4,2.5\n')
    expected = table("|  | kg | price |", "| plum | 3 | 1.5 |", "| fig | 4 | 2.5 |")
    assert text == f"{title}\n{expected}".strip()


@pytest.mark.parametrize(("first", "second"), [("0.5", "10"), ('"plum"', '"fig"')])
def test_single_columns_written_by_r_keep_their_name(first: str, second: str) -> None:
    values = [value.strip('"') for value in (first, second)]
    text = read_csv(f'"kg"\n"1",{first}\n"2",{second}\n')
    assert text == table("|  | kg |", f"| 1 | {values[0]} |", f"| 2 | {values[1]} |")
    text = read_csv(f"Prices\n7,{first}\n2,{second}\n")
    assert text.startswith("Prices\n\n| 7 |")


def test_rows_may_end_with_a_delimiter() -> None:
    text = read_csv("name,kg\nplum,3,\nfig,4,\n")
    assert text == table("| name | kg |", "| plum | 3 |", "| fig | 4 |")


def test_title_above_a_header_is_not_the_header() -> None:
    text = read_csv("Plums,May\nname,kg,price\nplum,3,1.5\n")
    assert text == "Plums, May\n\n" + table("| name | kg | price |", "| plum | 3 | 1.5 |")


def test_superscripts_and_subscripts_in_cells_are_kept() -> None:
    def fill(sheet: Any) -> None:
        raised, lowered = (InlineFont(vertAlign=f"{kind}script") for kind in ("super", "sub"))
        sheet.append(["What", "Value"])
        power = CellRichText("10", TextBlock(raised, "6"), " of H", TextBlock(lowered, "2"), "O")
        sheet.append(["atoms", power])

    content = book(fill)
    assert text_of(content).endswith("| atoms | 10^6 of H2O |")


def test_charts_without_saved_values_have_their_title() -> None:
    def fill(sheet: Any) -> None:
        sheet.append(["a", 1])
        chart = BarChart()
        chart.title = "Harvest"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=1))
        sheet.add_chart(chart, "D1")

    assert text_of(book(fill)).endswith("\n\nHarvest")


def test_formulas_without_a_result_are_shown() -> None:
    written = rows(["n", "value"], ["sum", "=1+2"], ["none", 0])
    shown = table("| n | value |", "| sum | =1+2 |", "| none | 0 |")
    assert text_of(written) == shown
    # XlsxWriter saves 0 as the result of each formula, and asks for a calculation.
    name = "xl/worksheets/sheet1.xml"
    source, made = zipfile.ZipFile(io.BytesIO(written)), io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for each in source.namelist():
            content = source.read(each)
            if each == name:
                assert b"<v></v>" in content or b"<v />" in content
                content = content.replace(b"<v></v>", b"<v>0</v>").replace(b"<v />", b"<v>0</v>")
            archive.writestr(each, content)
    assert text_of(made.getvalue()) == shown


def test_quoted_cells_may_follow_a_space() -> None:
    written = 'Name, Note\nPlum, "ripe, sweet"\n'
    assert read_csv(written) == table("| Name | Note |", "| Plum | ripe, sweet |")


def test_prompts_of_cells_are_read() -> None:
    def fill(sheet: Any) -> None:
        sheet["A1"] = "Fruit"
        asked = DataValidation(promptTitle="Fruit", prompt="As written on the crate")
        asked.add("A2:A9")
        sheet.add_data_validation(asked)

    assert text_of(book(fill)).endswith("\n\nFruit: As written on the crate")


def test_prompts_of_cells_are_read_and_error_messages_reported() -> None:
    def fill(sheet: Any) -> None:
        sheet["A1"], sheet["B1"] = "State", "Bill"
        sheet["A2"], sheet["B2"] = "Open", "Invoice"
        asked = DataValidation("list", formula1='"Open,Closed"', prompt="Of the bill")
        asked.error, asked.errorTitle = "No such state", "Wrong"
        asked.add("A2")
        sheet.add_data_validation(asked)
        other = DataValidation("whole", formula1="4", formula2="5")
        other.add("A3")
        sheet.add_data_validation(other)
        sheet["B2"].hyperlink = "https://example.org/bill"
        sheet["B2"].hyperlink.tooltip = "Shows the scan"
        sheet.parent.properties.subject = "Orchard"
        sheet.parent.properties.keywords = "quince; medlar"

    document = read_whole(book(fill), "a.xlsx")
    assert document.reading.text.endswith("\n\nOf the bill (Open, Closed)")
    told = {each.reason: each.text for each in document.reading.left_out}
    assert told == {
        Omission.FORM: "Wrong\nNo such state",
        Omission.ATTRIBUTE: "Shows the scan",
        Omission.METADATA: "Orchard",
    }
    assert document.tags == ("medlar", "quince")
    assert document.reading.words is not None
    left_out = document.reading.words.left_out
    assert left_out == {Omission.FORM: 4, Omission.ATTRIBUTE: 3, Omission.METADATA: 1}


def test_descriptions_of_charts_and_pictures_in_cells_are_read() -> None:
    picture, stored = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (3, 3)).save(picture, "PNG")
    made = xlsxwriter.Workbook(stored)
    sheet = made.add_worksheet()
    sheet.write("A1", "Fruit")
    sheet.write("A2", "Plum")
    described = {"image_data": picture, "description": "A ripe plum"}
    sheet.embed_image("B2", "a.png", described)
    chart = made.add_chart({"type": "line"})
    chart.add_series({"values": "=Sheet1!$A$1:$A$1"})
    sheet.insert_chart("D9", chart, {"description": "Plums by month"})
    made.close()
    text = read_book(stored.getvalue()).reading.text
    assert "Plum, ![A ripe plum]()" in text
    assert "![Plums by month]()" in text
    assert "#VALUE!" not in text


def test_data_types_have_their_names() -> None:
    rich = "http://schemas.microsoft.com/office/spreadsheetml/2017/richdata"
    names = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cell = '<c r="A1" t="e" vm="1"><v>#VALUE!</v></c>'
    sheet = f'<worksheet xmlns="{names}"><sheetData><row r="1">{cell}</row></sheetData></worksheet>'
    types = (
        *(("worksheet", "worksheets/sheet1"), ("sheetMetadata", "metadata")),
        *(("rdRichValue", "values"), ("rdRichValueStructure", "structures")),
    )
    related = "".join(
        f'<Relationship Id="r{place}" Type="x/{kind}" Target="{target}.xml"/>'
        for place, (kind, target) in enumerate(types)
    )
    ids = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    content = pack(
        {
            "xl/workbook.xml": f'<workbook xmlns="{names}" xmlns:r="{ids}"><sheets>'
            '<sheet name="Sheet" sheetId="1" r:id="r0"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f"<Relationships>{related}</Relationships>",
            "xl/worksheets/sheet1.xml": sheet,
            "xl/metadata.xml": f'<metadata xmlns="{names}" xmlns:x="{rich}">'
            '<futureMetadata name="XLRICHVALUE"><bk><x:rvb i="0"/></bk></futureMetadata>'
            '<valueMetadata><bk><rc t="1" v="0"/></bk></valueMetadata></metadata>',
            "xl/values.xml": f'<rvData xmlns="{rich}">'
            '<rv s="0"><v>7</v><v>France</v></rv></rvData>',
            "xl/structures.xml": f'<rvStructures xmlns="{rich}"><s t="_entity">'
            '<k n="_Flags"/><k n="_DisplayString" t="s"/></s></rvStructures>',
        }
    )
    assert text_of(content) == "France"
