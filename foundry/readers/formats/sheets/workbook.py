"""Reads Excel workbooks (.xlsx): visible sheets as displayed, with charts and boxes."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.documents.reasons import Reason
from foundry.readers.accounting.office import sheet_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.office.embedded import add_embedded, add_object
from foundry.readers.formats.office.grids import add_grid
from foundry.readers.formats.office.links import write_link
from foundry.readers.formats.office.number_formats import BUILT_IN
from foundry.readers.formats.office.parts import RELATIONSHIPS, Parts, number, texts_of
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.office.stored_pictures import describe, picture_files, write_pictures
from foundry.readers.formats.packed import Package, describe_file
from foundry.readers.formats.sheets.cells import MAX_CELLS, Formats, read_sheet, script_of
from foundry.readers.formats.sheets.rich_values import rich_texts
from foundry.readers.formats.sheets.rows import Sheet
from foundry.readers.notes import leave_out, note_damage

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_XDR = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_ANCHORS = tuple(f"{_XDR}{name}Anchor" for name in ("twoCell", "oneCell", "absolute"))
MAX_TABLES = 500
_UNNAMED = re.compile(r"[^\W\d_]+\d+")
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def read(content: bytes) -> Reading:
    """Read the visible sheets; a sheet's number is its page.

    Cells have the displayed text: formatted numbers, and the results of formulas, or the formulas
    if the file was saved without results. Comments, hidden sheets, rows and columns are left out.
    Raises UnreadableError for a zip bomb, damage and too many cells.
    """
    package = Package(content)
    if "xl/workbook.bin" in package.names:
        # Excel's binary workbook may have the same extension, but contains no XML.
        from foundry.readers.formats.sheets import old

        return old.read(content)
    parts = Parts(package)
    book = parts.xml(parts.main)
    if book is None or book.tag != f"{_S}workbook":
        raise UnreadableError(Reason.DAMAGED, "the package has no workbook")
    formats = _formats(parts, book)
    composer = Composer()
    allowed = MAX_CELLS
    for each in book.iter(f"{_S}sheet"):
        composer.page()
        name = each.get("name", "")
        relation = parts.relations(parts.main).get(each.get(f"{RELATIONSHIPS}id", ""))
        part = parts.read(relation.target) if relation else None
        if relation is None or part is None:
            note_damage(f"sheet {name}")
            continue
        sheet = Sheet()
        if relation.kind == "worksheet":
            sheet = read_sheet(part, formats, name, allowed)
            allowed -= sum(map(len, sheet.rows))
        if each.get("state", "visible") != "visible":
            unseen = Composer()
            _add_sheet(unseen, parts, relation.target, name, sheet)
            leave_out(Omission.HIDDEN, unseen.finish().text, name)
            continue
        _add_sheet(composer, parts, relation.target, name, sheet)
    return composer.finish(**describe_file(package.xml("docProps/core.xml")))


def _add_sheet(composer: Composer, parts: Parts, part: str, name: str, sheet: Sheet) -> None:
    relations = parts.relations(part)
    for reference, link in sheet.links.items():
        found, relation = sheet.cell(reference), relations.get(link)
        if found and relation and relation.is_external:
            row, column = found
            row[column] = write_link(row[column], relation.target)
    sheet.tables += _declared(parts, part)
    drawings = [each.target for each in relations.values() if each.kind == "drawing"]
    if sheet.rows or drawings:
        composer.heading(2, name)
        add_grid(composer, sheet.grid())
        composer.text("\n".join(filter(None, dict.fromkeys(sheet.prompts))))
        repeated = Counter(sheet.prompts) - Counter(set(sheet.prompts))
        leave_out(Omission.DUPLICATE, "\n".join(repeated.elements()), name)
    for drawing in drawings:
        _add_drawing(composer, parts, drawing)
    for each in relations.values():
        if each.kind in {"comments", "threadedComment"}:
            root = parts.xml(each.target)
            leave_out(Omission.COMMENT, "" if root is None else texts_of(root), name)
        elif each.kind == "package":
            add_object(composer, parts, each)


def _declared(parts: Parts, part: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the areas of a sheet's tables, with column names if no row has them."""
    related = (each.target for each in parts.relations(part).values() if each.kind == "table")
    for target in islice(related, MAX_TABLES):
        root = parts.xml(target)
        if root is None:
            continue
        names = [each.get("name", "") for each in root.iter(f"{_S}tableColumn")]
        is_shown = root.get("headerRowCount") != "0" or all(map(_UNNAMED.fullmatch, names))
        yield root.get("ref", ""), [] if is_shown else names


def _add_drawing(composer: Composer, parts: Parts, part: str) -> None:
    """Add the texts of a sheet's shapes, descriptions of pictures, charts and diagrams."""
    root = parts.xml(part)
    relations = parts.relations(part)
    for anchor in (each for tag in _ANCHORS for each in (() if root is None else root.iter(tag))):
        paragraphs = (
            "".join(t.text or "" for t in p.iter(f"{_A}t")) for p in anchor.iter(f"{_A}p")
        )
        composer.text("\n".join(filter(str.strip, paragraphs)))
        described = map(describe, anchor.iter(f"{_XDR}cNvPr"))
        files = picture_files(anchor, relations) if anchor.find(f"{_XDR}pic") is not None else ()
        composer.text(write_pictures("\n".join(filter(None, described)), files))
        add_embedded(composer, anchor, parts, relations)


def _formats(parts: Parts, book: Element) -> Formats:
    styles = parts.related_xml(parts.main, "styles")
    codes = {**BUILT_IN}
    used: list[str] = []
    struck = frozenset[int]()
    if styles is not None:
        for each in styles.iter(f"{_S}numFmt"):
            codes[number(each.get("numFmtId"))] = each.get("formatCode", "General")
        for cells in styles.iter(f"{_S}cellXfs"):
            used = [codes.get(number(each.get("numFmtId")), "General") for each in cells]
            fonts = {
                place
                for place, font in enumerate(styles.iterfind(f"{_S}fonts/{_S}font"))
                if _script(font) == "struck"
            }
            struck = frozenset(
                place for place, each in enumerate(cells) if number(each.get("fontId")) in fonts
            )
    properties = book.find(f"{_S}workbookPr")
    is_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
    calculation = book.find(f"{_S}calcPr")
    # XlsxWriter and openpyxl ask for a calculation when the file is opened.
    is_calculated = calculation is None or calculation.get("fullCalcOnLoad") not in {"1", "true"}
    rich = rich_texts(parts)
    return Formats(_shared(parts), used, is_1904, struck, is_calculated, rich)


def _shared(parts: Parts) -> list[str]:
    root = parts.related_xml(parts.main, "sharedStrings")
    return [] if root is None else [_text_of(each) for each in root.iter(f"{_S}si")]


def _text_of(item: Element) -> str:
    """Return a shared text, without phonetic guides (Japanese)."""
    text = ScriptedText()
    for child in item:
        if child.tag == f"{_S}t":
            text.put(child.text or "")
        elif child.tag == f"{_S}r":
            script = _script(child.find(f"{_S}rPr"))
            for each in child.iter(f"{_S}t"):
                text.put(each.text or "", script)
        elif child.tag == f"{_S}rPh":
            leave_out(Omission.ATTRIBUTE, texts_of(child))
    return str(text)


def _script(font: Element | None) -> str:
    scripts = (
        script_of(name, each.get("val"))
        for name in ("vertAlign", "strike")
        for each in (() if font is None else font.iter(f"{_S}{name}"))
    )
    return next(filter(None, scripts), "")


READER = FileReader(
    "sheets/6",
    {"Excel": _XLSX},
    dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), _XLSX),
    read,
    texts=sheet_texts,
)
