"""Reads the blocks of a Word document: headings, lists, tables and code."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.formats.office.alternatives import choose
from foundry.readers.formats.office.embedded import add_embedded
from foundry.readers.formats.office.merging import Merged, unmerge
from foundry.readers.formats.office.parts import (
    ALTERNATIVES,
    RELATIONSHIPS,
    Parts,
    number,
    texts_of,
)
from foundry.readers.formats.office.symbols import BULLET
from foundry.readers.formats.word.drawings import Note, control_omission
from foundry.readers.formats.word.imported import include_part
from foundry.readers.formats.word.inline import Inline
from foundry.readers.formats.word.names import (
    BOX,
    PARAGRAPH,
    PARAGRAPH_PROPERTIES,
    TABLE,
    VAL,
    W,
)
from foundry.readers.formats.word.numbering import Numbering
from foundry.readers.formats.word.styles import BODY_LEVEL, Style, Styles
from foundry.readers.formats.word.tables import (
    cells_of,
    columns_before,
    is_layout,
    merging,
    rows_of,
)
from foundry.readers.notes import leave_out

_STYLED, _OUTLINED, _NUMBERED = f"{W}pStyle", f"{W}outlineLvl", f"{W}numPr"
_DELETED = frozenset({f"{W}del", f"{W}moveFrom"})
_SILENT = frozenset({f"{W}sectPr", f"{W}sdtPr", f"{W}sdtEndPr", f"{W}customXmlPr"})


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph's text, its heading level (0 for none) and its label in a list."""

    text: str
    heading: int = 0
    label: str = ""
    level: int = 0
    is_code: bool = False


class Blocks:
    """Reads the blocks of one part of a document."""

    def __init__(self, parts: Parts, part: str, styles: Styles, numbering: Numbering) -> None:
        self.inline = Inline(part, styles, parts.relations(part))
        self._parts, self._part = parts, part
        self._styles, self._numbering = styles, numbering
        self._notes = {kind: _load_notes(parts, part, kind) for kind in ("footnote", "endnote")}
        self._lines: list[str] = []
        self._base = 0
        # A drop cap: the first letter of the next paragraph, set over several lines.
        self._initial = ""
        self._code: list[str] = []
        self._said = ""
        self._referred: list[Element | Note] = []

    def add(self, composer: Composer, parent: Element) -> None:
        """Add everything below an element."""
        self._add(composer, parent)
        self._flush(composer)
        composer.text(self._initial)
        self._initial = ""

    def _add(self, composer: Composer, parent: Element) -> None:
        for element in parent:
            tag = element.tag
            if tag == PARAGRAPH:
                self._add_paragraph(composer, element)
            elif tag == TABLE:
                self._flush(composer)
                self._add_table(composer, element)
            elif tag in _DELETED:
                leave_out(Omission.HIDDEN, texts_of(element), self._part)
            elif tag == f"{W}altChunk":
                self._flush(composer)
                relations = self._parts.relations(self._part)
                name = element.get(f"{RELATIONSHIPS}id", "")
                include_part(composer, self._parts, relations.get(name))
            elif tag == f"{W}sdt" and (reason := control_omission(element)):
                leave_out(reason, texts_of(element), self._part)
            elif tag == ALTERNATIVES:
                self._add(composer, choose(element, self._part))
            elif tag not in _SILENT:
                # Controls, smart tags, insertions and equations contain blocks.
                self._add(composer, element)

    def _add_paragraph(self, composer: Composer, element: Element) -> None:
        paragraph = self._read_paragraph(element)
        referred = self.inline.take()
        if paragraph.is_code:
            self._flush_list(composer)
            self._code.append(paragraph.text)
        elif paragraph.label and not paragraph.heading:
            self._flush_code(composer)
            if not self._lines:
                self._base = paragraph.level
            indent = "   " * max(paragraph.level - self._base, 0)
            text = paragraph.text.strip().replace("\n", f"\n{indent}  ")
            self._lines.append(f"{indent}{paragraph.label} {text}")
        elif text := paragraph.text.strip():
            self._flush(composer)
            if paragraph.heading:
                composer.heading(paragraph.heading, f"{paragraph.label} {text}".strip())
            else:
                composer.text(text)
                self._said = text
        self._referred += referred
        if not self._lines or any(isinstance(each, Element) for each in referred):
            self._add_referred(composer)

    def _read_paragraph(self, element: Element) -> Paragraph:
        style, outline, numbered = self._styles.get(None), None, None
        is_initial = False
        properties = element.find(PARAGRAPH_PROPERTIES)
        if properties is not None:
            for each in properties:
                tag = each.tag
                if tag == _STYLED:
                    style = self._styles.get(each.get(VAL, ""))
                elif tag == _OUTLINED:
                    outline = number(each.get(VAL), BODY_LEVEL)
                elif tag == _NUMBERED:
                    numbered = each
                elif tag == f"{W}framePr":
                    is_initial = each.get(f"{W}dropCap", "none") != "none"
        heading = style.heading if outline is None else (outline + 1) % (BODY_LEVEL + 1)
        if heading and not style.is_contents:
            self.inline.end_contents()
        text = self._initial + self.inline.read(element, style)
        self._initial = text.strip() if is_initial else ""
        if is_initial:
            return Paragraph("")
        if not text.strip() and not style.is_code:
            return Paragraph("")
        num, level = self._numbered(style, numbered)
        label = self._numbering.label(num, level) if num else ""
        if heading and label.startswith(BULLET):
            label = ""
        return Paragraph(text, heading, label, level + style.depth, style.is_code and not heading)

    @staticmethod
    def _numbered(style: Style, element: Element | None) -> tuple[int, int]:
        num, level = style.numbering or (0, 0)
        if element is not None:
            for each in element:
                if each.tag == f"{W}numId":
                    num = number(each.get(VAL))
                elif each.tag == f"{W}ilvl":
                    level = number(each.get(VAL))
        return num, level

    def _add_table(self, composer: Composer, table: Element) -> None:
        rows = list(rows_of(table))
        cells = [list(cells_of(row)) for row in rows]
        is_single = len(rows) == 1 or max(map(len, cells), default=0) == 1
        if is_single and any(is_layout(cell) for row in cells for cell in row):
            for own in cells:
                for cell in own:
                    self.add(composer, cell)
            return
        for name in ("tblCaption", "tblDescription"):
            described = table.find(f"{W}tblPr/{W}{name}")
            said = "" if described is None else described.get(VAL, "")
            # Pandoc writes a caption both as a paragraph and as a property.
            composer.text("" if said == self._said else said)
        texts: list[list[str]] = []
        merged: list[Merged] = []
        above: dict[int, int] = {}
        headers = 0
        for line, (row, own) in enumerate(zip(rows, cells, strict=True)):
            properties = row.find(f"{W}trPr")
            if properties is not None and properties.find(f"{W}del") is not None:
                leave_out(Omission.HIDDEN, texts_of(row), self._part)
                own = []
            is_header = properties is not None and properties.find(f"{W}tblHeader") is not None
            headers += is_header and headers == line
            texts.append(self._read_row(line, own, columns_before(properties), merged, above))
        composer.table(unmerge(texts, merged, headers=headers))
        self._referred += self.inline.take()
        self._add_referred(composer)

    def _read_row(
        self,
        line: int,
        cells: list[Element],
        before: int,
        merged: list[Merged],
        above: dict[int, int],
    ) -> list[str]:
        """Return the texts of a row's cells, and add its merged cells to `merged`.

        `above` has the positions of the cells above in `merged`, by column.
        """
        texts = [""] * before
        for cell in cells:
            column = len(texts)
            span, is_below = merging(cell)
            if is_below is not None and is_below and column in above:
                lines, columns = merged[above[column]]
                merged[above[column]] = (range(lines.start, line + 1), columns)
            elif is_below is not None or span > 1:
                merged.append((range(line, line + 1), range(column, column + span)))
                above[column] = len(merged) - 1
            if is_below is None:
                above.pop(column, None)
            texts.append(self._read_cell(cell))
            texts += [""] * (span - 1)
        return texts

    def _read_cell(self, cell: Element) -> str:
        parts: list[str] = []
        for element in cell:
            if element.tag == PARAGRAPH:
                paragraph = self._read_paragraph(element)
                parts.append(f"{paragraph.label} {paragraph.text}".strip())
            elif element.tag == TABLE:
                for row in rows_of(element):
                    parts.append(", ".join(filter(None, map(self._read_cell, cells_of(row)))) + ";")
            elif element.tag == ALTERNATIVES:
                parts.append(self._read_cell(choose(element, self._part)))
            elif element.tag == f"{W}sdt" and (reason := control_omission(element)):
                leave_out(reason, texts_of(element), self._part)
            elif element.tag in _DELETED:
                leave_out(Omission.HIDDEN, texts_of(element), self._part)
            elif element.tag not in _SILENT and element.tag != f"{W}tcPr":
                parts.append(self._read_cell(element))
        return " ".join(filter(None, parts)).removesuffix(";")

    def _flush(self, composer: Composer) -> None:
        """Add the list or code that has ended, and then the notes and boxes that it refers to."""
        self._flush_list(composer)
        self._flush_code(composer)
        self._add_referred(composer)

    def _add_referred(self, composer: Composer) -> None:
        """Add notes, boxes, charts and diagrams after the text that refers to them."""
        self._flush_list(composer)
        referred, self._referred = self._referred, []
        for each in referred:
            if isinstance(each, Note):
                note = self._notes[each.kind].pop(each.name, None)
                if note is not None:
                    composer.text(f"{each.label} {self._read_cell(note)}".strip())
            elif each.tag == BOX:
                self.add(composer, each)
            else:
                add_embedded(composer, each, self._parts, self._parts.relations(self._part))

    def _flush_list(self, composer: Composer) -> None:
        lines, self._lines = self._lines, []
        composer.text("\n".join(lines))

    def _flush_code(self, composer: Composer) -> None:
        code, self._code = self._code, []
        if any(line.strip() for line in code):
            composer.code("\n".join(code).strip("\n"))


def _load_notes(parts: Parts, part: str, kind: str) -> dict[str, Element]:
    """Return a document's notes of a kind by id, without separators."""
    root = parts.related_xml(part, f"{kind}s")
    notes = () if root is None else root.iter(f"{W}{kind}")
    return {
        each.get(f"{W}id", ""): each for each in notes if each.get(f"{W}type", "normal") == "normal"
    }
