"""Composes paragraphs, lists and tables of an RTF document as they end."""

import re

from foundry.documents import Reading
from foundry.readers.composing import Composer
from foundry.readers.decoding import normalise
from foundry.readers.formats.office.running import RunningLines
from foundry.readers.formats.office.scripts import ScriptedText
from foundry.readers.formats.office.symbols import bullet
from foundry.readers.formats.rtf.tables import CellShape, Table

# Pandoc writes the numbers of items as text.
_WRITTEN = re.compile(
    "([\u2022\u00b7\u25aa\u25e6\u2023\u2013-]|\\(?(?:[0-9]{1,3}|[a-zA-Z]|[ivxlc]{1,6})[.)])\t\\s*(?=\\S)"
)


class Layout:
    """Collects text in `line`, and adds paragraphs and tables as they end, then notes and boxes.

    `indent` is the left indent of the current paragraph, in twips.
    """

    def __init__(self) -> None:
        self.running = RunningLines()
        self.line = ScriptedText()
        self.last_line = self.line
        self._shapes: list[CellShape] = []
        self._next_shape = CellShape(0)
        self._composer = Composer()
        self._items: list[str] = []
        self._cells: list[str] = []
        self._table = Table()
        self._kept: list[str] = []
        self._current: list[str] = []
        self._notes = 0
        self._label = ""
        self._level = 0
        self.indent = 0
        self._indents: list[int] = []

    def next_note(self) -> str:
        """Return the label of the next note."""
        self._notes += 1
        return f"[{self._notes}]"

    def keep(self, text: str) -> None:
        """Keep a note or box until its paragraph ends."""
        self._current.append(_joined(text))

    def set_label(self, label: str, level: int) -> None:
        """Set the paragraph's label and the depth of its list, unless the label is set already.

        A label without a letter or digit is a bullet.
        """
        label = _joined(label)
        if not self._label:
            self._label = label if any(map(str.isalnum, label)) else label and bullet(label)
        self._level = min(max(level, 0), 8)

    def take_label(self) -> str:
        """Return the paragraph's label, and forget it."""
        label, self._label = self._label, ""
        return label

    def end_paragraph(self, heading: int) -> None:
        """End a paragraph outside tables; at level 0, it is not a heading."""
        text, label = self._split_label(self._take())
        if not text:
            self._label = ""
            self._end_kept()
            return
        self._flush_table()
        if heading:
            self._flush_items()
            self._composer.heading(heading, f"{label} {text}".strip())
        elif label:
            indent = "   " * self._level
            self._items.append(f"{indent}{label} {text}")
        else:
            self._flush_items()
            self._composer.text(text)
        self._label, self._level = "", 0
        self._end_kept()

    def _split_label(self, text: str) -> tuple[str, str]:
        """Return a paragraph's text and label, which may be written into the text before a tab."""
        written = None if self._label else _WRITTEN.match(text)
        if written is None:
            if not self._label:
                self._indents.clear()
            return text, self._label
        while self._indents and self._indents[-1] > self.indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < self.indent:
            self._indents.append(self.indent)
        self.set_label(written[1], len(self._indents) - 1)
        return text[written.end() :], self._label

    def end_cell(self) -> None:
        """End a cell of the current row."""
        self._flush_items()
        text = self._take().replace(", ; ", "; ").removesuffix(";")
        self._cells.append(f"{self._label} {text}".strip())
        self._label = ""
        self._end_kept()

    def shape_cells(self, word: str, number: int) -> None:
        """Begin the cell shapes of a row (`trowd`), end the current one (`cellx`), or merge it."""
        if word == "trowd":
            self._shapes.clear()
            self._next_shape = CellShape(0)
        elif word == "cellx":
            self._next_shape.edge = number
            self._shapes.append(self._next_shape)
            self._next_shape = CellShape(0)
        elif word == "clmrg":
            self._next_shape.is_right = True
        else:
            self._next_shape.is_below = True

    def end_row(self) -> None:
        """End a row; its cells have the shapes that were defined last."""
        if self._cells:
            self._table.rows.append((self._cells, [*self._shapes]))
            self._cells = []

    def finish(self) -> Reading:
        """Finish the document; return its reading."""
        self.end_row()
        self._flush_table()
        self._flush_items()
        self._end_kept()
        return self._composer.finish()

    def _take(self) -> str:
        self.last_line, self.line = self.line, ScriptedText()
        return _joined(str(self.last_line))

    def _flush_table(self) -> None:
        if self._table.rows:
            self._composer.table(self._table.fill())
            self._table = Table()
            self._flush_kept()

    def _flush_items(self) -> None:
        items, self._items = self._items, []
        self._composer.text("\n".join(items))
        if items:
            self._flush_kept()

    def _end_kept(self) -> None:
        self._kept += self._current
        self._current = []
        self._flush_kept()

    def _flush_kept(self) -> None:
        if not (self._items or self._cells or self._table.rows):
            kept, self._kept = self._kept, []
            for text in kept:
                self._composer.text(text)


def _joined(text: str) -> str:
    """Join the surrogate pairs of a text into characters beyond U+FFFF."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return normalise(text).strip()
