"""Composes the blocks of an OpenDocument: headings, lists, tables, slides and shapes."""

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.formats.office.parts import number, texts_of
from foundry.readers.formats.office.symbols import BULLET
from foundry.readers.formats.opendocument.cells import CellReader
from foundry.readers.formats.opendocument.inline import (
    LEFT_OUT,
    Inline,
    Load,
    Note,
    describe_drawing,
)
from foundry.readers.formats.opendocument.names import (
    CHART,
    DRAW,
    LINK,
    PRESENTATION,
    TABLE,
    TEXT,
)
from foundry.readers.formats.opendocument.places import in_reading_order
from foundry.readers.formats.opendocument.repeated import (
    DECLARED,
    RUNNING,
    RepeatedTexts,
    class_of,
    hide_slide,
)
from foundry.readers.formats.opendocument.styles import Counter, Styles
from foundry.readers.formats.opendocument.tables import CELL, add_sheet, read_prompts, read_table
from foundry.readers.notes import leave_out


@dataclass(slots=True)
class _List:
    """The current list: lines, depth and numbering."""

    counter: Counter
    level: int = 1
    lines: list[str] = field(default_factory=list)


class Blocks:
    """Composes the blocks of a document."""

    def __init__(self, styles: Styles, load: Load) -> None:
        self._styles = styles
        self._load = load
        self._inline = Inline(styles, load)
        self._cells = CellReader(styles, self._inline)
        self._outline = Counter(styles.outline)
        self._counters: dict[str, Counter] = {}
        self._code: list[str] = []
        self._slide = 0
        self._repeated = RepeatedTexts(styles, self._cells)

    def add(self, composer: Composer, parent: Element) -> None:
        """Add everything below an element."""
        for element in parent:
            self._add(composer, element)
        self._flush(composer)

    def _add(self, composer: Composer, element: Element) -> None:
        tag = element.tag
        if tag == f"{TEXT}p":
            self._paragraph(composer, element)
            return
        self._flush(composer)
        if tag in LEFT_OUT:
            leave_out(LEFT_OUT[tag], texts_of(element))
        elif tag == f"{TEXT}h":
            self._heading(composer, element)
        elif tag == f"{TEXT}list":
            self._list(composer, element)
        elif tag == f"{TABLE}table":
            self._table(composer, element)
        elif tag == f"{DRAW}page":
            self._page(composer, element)
        elif tag in DECLARED:
            self._repeated.declare(element)
        elif tag == f"{TEXT}section" and element.get(f"{TEXT}display") == "none":
            leave_out(Omission.HIDDEN, texts_of(element))
        elif tag == f"{DRAW}object":
            self._object(composer, element)
        elif tag.startswith(DRAW) and not len(element):
            return
        else:
            self._shape(composer, element)

    def _shape(self, composer: Composer, element: Element) -> None:
        """Add the content of a shape or group; for a picture, its description."""
        if element.tag.startswith(DRAW):
            composer.text("" if element.tag in _CHILDREN else describe_drawing(element))
        for child in in_reading_order(element) if element.tag == f"{DRAW}g" else element:
            self._add(composer, child)
        self._flush(composer)

    def _paragraph(self, composer: Composer, element: Element) -> None:
        style = self._styles.get("paragraph", element.get(f"{TEXT}style-name"))
        if style.is_hidden:
            leave_out(Omission.HIDDEN, texts_of(element))
            return
        text = self._inline.read(element)
        referred = self._inline.take()
        if style.is_code:
            self._code.append(text)
            return
        self._flush(composer)
        if style.level:
            composer.heading(style.level, text)
        else:
            composer.text(text.strip())
        self._add_referred(composer, referred)

    def _add_referred(self, composer: Composer, referred: list[Element | Note]) -> None:
        """Add the notes and shapes to which a paragraph refers."""
        for each in referred:
            if isinstance(each, Note):
                composer.text(f"{each.label} {self._cells.read(each.body)}".strip())
            else:
                self._shape(composer, each)

    def _flush(self, composer: Composer) -> None:
        code, self._code = self._code, []
        if any(line.strip() for line in code):
            composer.code("\n".join(code).strip("\n"))

    def _heading(self, composer: Composer, element: Element, label: str | None = None) -> None:
        level = number(element.get(f"{TEXT}outline-level"), 1)
        text = self._inline.read(element).strip()
        referred = self._inline.take()
        if label is None:
            is_counted = element.get(f"{TEXT}is-list-header") != "true"
            label = self._outline.label(level) if text and is_counted else ""
        label = "" if label.startswith(BULLET) else label
        composer.heading(level, f"{label} {text}".strip())
        self._add_referred(composer, referred)

    def _list(self, composer: Composer, element: Element, outer: _List | None = None) -> None:
        name = element.get(f"{TEXT}style-name") or self._list_name(element)
        if outer is not None:
            inner = _List(outer.counter, outer.level + 1, outer.lines)
            if name and name in self._styles.lists:
                inner.counter = Counter(self._styles.lists[name])
        else:
            goes_on = element.get(f"{TEXT}continue-numbering") == "true"
            goes_on = goes_on or element.get(f"{TEXT}continue-list") is not None
            if not goes_on or name not in self._counters:
                self._counters[name] = Counter(self._styles.lists.get(name, {}))
            inner = _List(self._counters[name])
        for item in element:
            if item.tag in {f"{TEXT}list-item", f"{TEXT}list-header"}:
                self._item(composer, item, inner)
        if outer is None:
            _end_list(composer, inner)

    def _list_name(self, element: Element) -> str:
        """Return the name of the list style in the style of the first paragraph."""
        first = next(element.iter(f"{TEXT}p"), None)
        name = None if first is None else first.get(f"{TEXT}style-name")
        return self._styles.get("paragraph", name).list_name

    def _item(self, composer: Composer, item: Element, of: _List) -> None:
        is_header = item.tag == f"{TEXT}list-header"
        start = number(item.get(f"{TEXT}start-value"), -1)
        indent = "   " * (of.level - 1)
        label: str | None = None
        for child in item:
            if child.tag == f"{TEXT}list":
                self._list(composer, child, of)
                continue
            if label is None and child.tag in {f"{TEXT}p", f"{TEXT}h"}:
                label = (
                    "" if is_header else of.counter.label(of.level, None if start < 0 else start)
                )
            elif child.tag in {f"{TEXT}p", f"{TEXT}h"}:
                label = ""
            if child.tag == f"{TEXT}p":
                text = self._inline.read(child).strip().replace("\n", f"\n{indent}  ")
                if text:
                    space = "" if is_header or label else "  "
                    of.lines.append(f"{indent}{space}{f'{label} {text}'.strip()}")
                referred = self._inline.take()
                if referred:
                    _end_list(composer, of)
                    self._add_referred(composer, referred)
            else:
                _end_list(composer, of)
                if child.tag == f"{TEXT}h":
                    self._heading(composer, child, label or "")
                else:
                    self._add(composer, child)

    def _table(self, composer: Composer, element: Element) -> None:
        if self._styles.get("table", element.get(f"{TABLE}style-name")).is_hidden:
            leave_out(Omission.HIDDEN, texts_of(element))
            return
        table = read_table(element, self._cells.read)
        if len(table.rows) == 1 and len(table.rows[0]) == 1:
            for cell in element.iter(f"{TABLE}table-cell"):
                self.add(composer, cell)
                return
        composer.table(table.fill())
        self._add_referred(composer, self._inline.take())

    def _page(self, composer: Composer, page: Element) -> None:
        """Add a page: a slide begins with its title or number, a drawing has no heading."""
        composer.page()
        self._slide += 1
        style = self._styles.elements.get(("drawing-page", page.get(f"{DRAW}style-name", "")))
        properties = {
            key: value for each in (() if style is None else style) for key, value in each.items()
        }
        if properties.get(f"{PRESENTATION}visibility") == "hidden":
            hide_slide(page, self._slide, self._load)
            return
        title = next((each for each in page if class_of(each) == "title"), None)
        named = "" if title is None else " ".join(self._cells.read(title).split())
        notes: list[Element] = []
        if title is not None or page.find(f"{PRESENTATION}notes") is not None:
            composer.heading(2, named or f"Slide {self._slide}")
        for element in in_reading_order(page):
            if element is title:
                continue
            if element.tag == f"{PRESENTATION}notes":
                notes.append(element)
            elif class_of(element) in RUNNING:
                self._repeated.add_shape(composer, element, self._slide)
            else:
                self._add(composer, element)
        self._flush(composer)
        is_footed = properties.get(f"{PRESENTATION}display-footer") != "false"
        self._repeated.add_behind(composer, page, self._slide, is_footed=is_footed)
        for each in notes:
            self._repeated.add_notes(composer, each, self._slide)

    def _object(self, composer: Composer, element: Element) -> None:
        """Add the titles and the data table of a chart."""
        name = element.get(LINK, "").removeprefix("./")
        root = self._load(name) if name else element
        chart = None if root is None else root.find(f".//{CHART}chart")
        if chart is None:
            return
        titles = (texts_of(each) for part in _TITLES for each in chart.iter(f"{CHART}{part}"))
        composer.text("\n".join(dict.fromkeys(filter(None, titles))))
        for table in chart.iter(f"{TABLE}table"):
            composer.table(read_table(table, self._cells.read).fill())

    def add_sheets(self, composer: Composer, body: Element) -> None:
        """Add the visible sheets of a spreadsheet; a sheet's number is its page."""
        for element in body:
            if element.tag in LEFT_OUT:
                leave_out(LEFT_OUT[element.tag], texts_of(element))
        prompts = read_prompts(body)
        ranges = [
            each.get(f"{TABLE}target-range-address", "")
            for each in body.iterfind(f"{TABLE}database-ranges/{TABLE}database-range")
        ]
        for table in body.iterfind(f"{TABLE}table"):
            composer.page()
            name = table.get(f"{TABLE}name", "")
            if self._styles.get("table", table.get(f"{TABLE}style-name")).is_hidden:
                leave_out(Omission.HIDDEN, texts_of(table), name)
                continue
            own = [each for each in ranges if _sheet_of(each) == name]
            add_sheet(composer, table, name, self._cells.read, own)
            used = (cell.get(f"{TABLE}content-validation-name", "") for cell in table.iter(CELL))
            composer.text("\n".join(filter(None, map(prompts.get, dict.fromkeys(used)))))
            self._add_referred(composer, self._inline.take())
            for shapes in table.iter(f"{TABLE}shapes"):
                self.add(composer, shapes)


_TITLES = ("title", "subtitle", "footer")
_CHILDREN = frozenset(f"{DRAW}{name}" for name in ("text-box", "image", "object-ole", "page"))
"""Parts of a frame or page, which describes them."""


def _sheet_of(area: str) -> str:
    """Return the name of an area's sheet: `'Plums, 2024'.A1:'Plums, 2024'.B7`."""
    written = area.rpartition(":")[0].rpartition(".")[0].lstrip("$")
    is_quoted = written[:1] == "'" == written[-1:]
    return written[1:-1].replace("''", "'") if is_quoted else written


def _end_list(composer: Composer, of: _List) -> None:
    composer.text("\n".join(of.lines))
    of.lines.clear()
