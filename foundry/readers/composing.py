"""Composes text from parts, recording the offsets of headings, blocks and links."""

import re
from collections.abc import Sequence

from foundry.documents import Heading, Link, Reading, Span
from foundry.readers.decoding import normalise, normalise_line
from foundry.readers.formats.markdown.links import find_links

MAX_HEADING_CHARS = 500
_PICTURE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]+\)")


class Composer:
    """Collects the parts of a document in order; `finish` returns the reading."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._blocks: list[Span] = []
        self._links: list[Link] = []
        self._pages: list[int] = []

    def page(self) -> None:
        """Start the next page, slide or sheet; the first call starts page 1."""
        self._pages.append(self._length)

    def heading(self, level: int, text: str, title: str = "") -> None:
        """Add a Markdown heading, or a paragraph if the text exceeds MAX_HEADING_CHARS.

        `title` is the text without markup.
        """
        written, level = normalise_line(describe_pictures(text), len(text)), min(max(level, 1), 6)
        if len(written) > MAX_HEADING_CHARS or not written:
            self.text(text)
        else:
            self._forget_ends(level)
            start = self._append("#" * level + " " + written)
            self._headings.append(Heading(level, title or written, start, self._end()))

    def end_section(self, level: int) -> None:
        """End the section of this level, so that the enclosing section continues."""
        self._forget_ends(level)
        self._headings.append(Heading(level, "", self._length, self._length))

    def text(self, text: str, *, is_block: bool = False) -> None:
        """Add paragraphs; a block stays whole if it fits into a chunk."""
        content = normalise(text).strip("\n").rstrip()
        if content.strip():
            start = self._append(content)
            if is_block:
                self._blocks.append(Span(start, self._end()))

    def code(self, code: str, language: str = "") -> None:
        """Add code as a fenced block."""
        self.text(fence(code, language), is_block=True)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add rows of cells, with the header first, as a Markdown table."""
        if any(rows):
            cells = [[normalise_line(value, len(value)) for value in row] for row in rows]
            self.text(pipe_table(cells), is_block=True)

    def include(self, reading: Reading) -> None:
        """Include another document's reading, with its outline."""
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
        """Add a link that is not in the text."""
        self._links.append(link)

    def finish(
        self,
        *,
        title: str | None = None,
        modified: str | None = None,
        language: str | None = None,
        tags: tuple[str, ...] = (),
    ) -> Reading:
        """Return the reading; without a title, the first level 1 heading becomes the title."""
        text = "\n\n".join(self._parts)
        headings = [each for each in self._headings if each.start < len(text)]
        first = next((each.text for each in headings if each.level == 1 and each.text), None)
        return Reading(
            text=text,
            title=normalise_line(title or "") or first,
            headings=tuple(headings),
            blocks=tuple(self._blocks),
            links=tuple(dict.fromkeys((*self._links, *find_links(text, {})))),
            modified=modified,
            pages=tuple(min(offset, len(text)) for offset in self._pages),
            language=language,
            tags=tags,
        )

    def _forget_ends(self, level: int) -> None:
        """Drop section ends at this place that a heading of this level makes unnecessary."""
        while self._headings and not self._headings[-1].text:
            if self._headings[-1].start != self._length or self._headings[-1].level < level:
                break
            self._headings.pop()

    def _append(self, part: str) -> int:
        start = self._length
        self._parts.append(part)
        self._length += len(part) + 2
        return start

    def _end(self) -> int:
        return self._length - 2


def describe_pictures(text: str) -> str:
    """Return a text with each picture replaced by its description."""
    return _PICTURE.sub(r"\1", text) if "![" in text else text


def fence(code: str, language: str = "") -> str:
    """Return code in a fence longer than any fence inside it."""
    mark = "```"
    while mark in code:
        mark += "`"
    return f"{mark}{language}\n{code}\n{mark}"


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells, each on one line, as a Markdown table; the first is the header."""
    width = max(map(len, rows))
    lines = []
    for row in rows:
        cells = (cell.replace("|", "\\|") for cell in row)
        lines.append("| " + " | ".join([*cells, *[""] * (width - len(row))]) + " |")
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)
