"""Reads a cell or a note of OpenDocument as a single line, with all of its blocks."""

from xml.etree.ElementTree import Element

from foundry.readers.formats.office.parts import texts_of
from foundry.readers.formats.opendocument.inline import LEFT_OUT, Inline
from foundry.readers.formats.opendocument.names import DRAW, TABLE, TEXT
from foundry.readers.formats.opendocument.styles import Counter, Styles
from foundry.readers.formats.opendocument.tables import CELLS, read_table
from foundry.readers.notes import leave_out


class CellReader:
    """Reads content as a single line; `inline` collects nested boxes and notes."""

    def __init__(self, styles: Styles, inline: Inline) -> None:
        self._styles = styles
        self._inline = inline

    def read(self, parent: Element) -> str:
        """Return the text of a cell or a note on one line."""
        parts: list[str] = []
        for element in parent:
            tag = element.tag
            if tag in {f"{TEXT}p", f"{TEXT}h"}:
                parts.append(self._inline.read(element).strip())
            elif tag == f"{TABLE}table":
                inner = read_table(element, self.read)
                parts.append("; ".join(", ".join(filter(None, row)) for row in inner.rows))
            elif tag == f"{TEXT}list":
                name = element.get(f"{TEXT}style-name", "")
                counter = Counter(self._styles.lists.get(name, {}))
                parts += self._items(element, counter, 1)
            elif tag in LEFT_OUT:
                leave_out(LEFT_OUT[tag], texts_of(element))
            elif tag.startswith(DRAW) and parent.tag in CELLS:
                parts.append(self._inline.refer(element))
            else:
                parts.append(self.read(element))
        return " ".join(filter(None, parts))

    def _items(self, element: Element, counter: Counter, level: int) -> list[str]:
        lines: list[str] = []
        for item in element:
            label = counter.label(level) if item.tag == f"{TEXT}list-item" else ""
            for child in item:
                if child.tag == f"{TEXT}list":
                    lines += self._items(child, counter, level + 1)
                else:
                    holder = Element("cell")
                    holder.append(child)
                    lines.append(f"{label} {self.read(holder)}".strip())
                    label = ""
        return lines
