"""Text put together piece by piece, with the offsets of everything noted on the way."""

from collections.abc import Sequence

from foundry.documents import Heading, Link, Reading, Span
from foundry.readers.decoding import normalise, normalise_line
from foundry.readers.formats.markdown.links import find_links

MAX_HEADING_CHARS = 500


class Composer:
    """Collects a document's parts in their order; `finish` makes the reading."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._blocks: list[Span] = []
        self._links: list[Link] = []
        self._pages: list[int] = []

    def page(self) -> None:
        """Begin the next page, slide or sheet; the first call begins page 1."""
        self._pages.append(self._length)

    def heading(self, level: int, text: str) -> None:
        """Add a heading on a line of its own, written as in Markdown; a longer text is none."""
        title = normalise_line(text, len(text))
        if len(title) > MAX_HEADING_CHARS:
            self.text(title)
        elif title:
            start = self._append("#" * min(max(level, 1), 6) + " " + title)
            self._headings.append(Heading(min(max(level, 1), 6), title, start, self._end()))

    def text(self, text: str, *, is_block: bool = False) -> None:
        """Add a paragraph or several; a block stays whole if it fits into a chunk."""
        content = normalise(text).strip("\n").rstrip()
        if content.strip():
            start = self._append(content)
            if is_block:
                self._blocks.append(Span(start, self._end()))

    def code(self, code: str, language: str = "") -> None:
        """Add code in a fence."""
        self.text(fence(code, language), is_block=True)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Return rows of cells, the first being the header, as a table of Markdown's."""
        cells = [[_cell(value) for value in row] for row in rows]
        width = max((len(row) for row in cells), default=0)
        if width:
            head = [_line(cells[0], width), "|" + " --- |" * width]
            body = [_line(row, width) for row in cells[1:]]
            self.text("\n".join([*head, *body]), is_block=True)

    def include(self, reading: Reading) -> None:
        """Return another document's reading, with its outline."""
        if not reading.text.strip():
            return
        base = self._append(reading.text)
        self._headings += [
            Heading(heading.level, heading.text, base + heading.start, base + heading.end)
            for heading in reading.headings
        ]
        self._blocks += [Span(base + block.start, base + block.end) for block in reading.blocks]
        self._links += reading.links

    def link(self, link: Link) -> None:
        """Add a link that the text does not show."""
        self._links.append(link)

    def finish(
        self,
        *,
        title: str | None = None,
        modified: str | None = None,
        language: str | None = None,
    ) -> Reading:
        """Return the whole reading; without a title, the first heading of level 1 is it."""
        text = "\n\n".join(self._parts)
        first = next((heading.text for heading in self._headings if heading.level == 1), None)
        return Reading(
            text=text,
            title=normalise_line(title or "") or first,
            headings=tuple(self._headings),
            blocks=tuple(self._blocks),
            links=tuple(dict.fromkeys((*self._links, *find_links(text, {})))),
            modified=modified,
            pages=tuple(min(offset, len(text)) for offset in self._pages),
            language=language,
        )

    def _append(self, part: str) -> int:
        start = self._length
        self._parts.append(part)
        self._length += len(part) + 2
        return start

    def _end(self) -> int:
        return self._length - 2


def fence(code: str, language: str = "") -> str:
    """Return code in a fence that is longer than those in it."""
    mark = "```"
    while mark in code:
        mark += "`"
    return f"{mark}{language}\n{code}\n{mark}"


def _cell(value: str) -> str:
    return normalise_line(value, len(value)).replace("|", "\\|")


def _line(cells: Sequence[str], width: int) -> str:
    return "| " + " | ".join([*cells, *[""] * (width - len(cells))]) + " |"
