"""Parses Markdown blocks: headings, paragraphs, lists, tables and code, also inside callouts.

The entries of a definition list are items with the mark `:`, whose text begins with the term.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...retrieval.markup import strip_comments
from .lines import cells_of, dedent, indent_width, without_closing

MAX_DEPTH = 8  # Nesting of lists and quotations; deeper ones are read as text.
CODE_INDENT = 4
MAX_TERMS = 3  # Lines above a definition; more are a paragraph.

# Possessive quantifiers keep matching linear in the length of hostile lines.
_FENCE = re.compile(r"([ \t]*)(`{3,}+|~{3,}+)([^`]*)\Z")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*)")
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-+)[ \t]*\Z")
_RULE = re.compile(r"[ \t]{0,3}(?:=+|-[- \t]*-|\*[* \t]*\*|_[_ \t]*_)[ \t]*\Z")
_QUOTED = re.compile(r"[ \t]*>[ \t]?")
_ITEM = re.compile(r"([ \t]*)([-*+\u2022]|\d{1,3}[.)]|\(\w{1,5}\))(?:[ \t]+|\Z)")
_DEFINITION = re.compile(r"([ \t]{0,3}):[ \t]+(?=\S)")
_COLUMNS = re.compile(
    r"[ \t]*+(?=[^|]*\|)\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?\Z"
)
_TAB = re.compile(r"\*\*(\[.+\])\*\*")
_STEM = re.compile(r"[:\uff1a\u2014a-z*_]\s*\Z")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a passage."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A block of code without its fences; `info` is its info string."""

    info: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A list item: its marker and its blocks."""

    mark: str
    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class Listing:
    """A list."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table as cells, and its column names, if any."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Tab:
    """The beginning of a tab, with a label such as `[Windows]`; the end if the label is empty."""

    label: str


Block: TypeAlias = Heading | Paragraph | Code | Listing | Table | Tab


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of a passage, including blocks inside quotations and callouts."""
    lines = strip_comments(text).split("\n")
    if sum(_FENCE.match(line) is not None for line in lines) % 2 and lines[-1].strip() == "```":
        # The code block began in an earlier passage.
        lines.insert(0, "```")
    return _Reader(lines, 0).blocks


def introduces(text: str) -> bool:
    """Return whether a text can introduce a list: "Never open it unless:"."""
    return _STEM.search(text) is not None


class _Reader:
    """Parses lines into `blocks`."""

    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self.blocks: list[Block] = []
        self._lines = lines
        self._depth = depth
        self._paragraph: list[str] = []
        self._at = 0
        while self._at < len(lines):
            self._read_line(lines[self._at])
        self._flush()

    def _read_line(self, line: str) -> None:
        if not line.strip():
            self._flush()
            self._at += 1
        elif self._begins_indented_code(line):
            self.blocks.append(self._indented_code())
        elif fence := _FENCE.match(line):
            self._add(self._code(*fence.groups()))
        elif heading := _HEADING.match(line):
            self._add(Heading(without_closing(heading[1])))
            self._at += 1
        elif len(self._paragraph) == 1 and _UNDERLINE.match(line):
            (text,) = self._paragraph
            self._paragraph = []
            self._add(Heading(text.strip()))
            self._at += 1
        elif _RULE.match(line):
            self._flush()
            self._at += 1
        elif self._is_table():
            self._add(self._table())
        elif self._depth < MAX_DEPTH and _QUOTED.match(line):
            self._flush()
            quoted = self._take(lambda other: _QUOTED.match(other) is not None)
            lines = [_QUOTED.sub("", other, count=1) for other in quoted]
            self.blocks += _within_tab(_Reader(lines, self._depth + 1).blocks)
        elif self._depth < MAX_DEPTH and self._begins_list(line):
            self._flush()
            self.blocks.append(self._list())
        elif self._depth < MAX_DEPTH and self._begins_definition():
            self.blocks.append(self._definitions())
        else:
            self._paragraph.append(line)
            self._at += 1

    def _flush(self) -> None:
        if self._paragraph:
            self.blocks.append(Paragraph("\n".join(self._paragraph)))
            self._paragraph = []

    def _add(self, block: Block) -> None:
        self._flush()
        self.blocks.append(block)

    def _take(self, is_wanted: Callable[[str], bool]) -> list[str]:
        start = self._at
        while self._at < len(self._lines) and is_wanted(self._lines[self._at]):
            self._at += 1
        return [*self._lines[start : self._at]]

    def _code(self, indent: str, fence: str, info: str) -> Code:
        self._at += 1

        def is_within(line: str) -> bool:
            bare = line.strip()
            return not (bare.startswith(fence) and not bare.strip(fence[0]))

        lines = self._take(is_within)
        self._at += 1
        return Code(info.strip(), tuple(dedent(line, len(indent)) for line in lines))

    def _begins_indented_code(self, line: str) -> bool:
        """Return whether a line begins indented code; plain text may indent its paragraphs too."""
        is_block = _FENCE.match(line) or _ITEM.match(line)
        if self._paragraph or is_block or indent_width(line) < CODE_INDENT:
            return False
        before = self.blocks[-1] if self.blocks else None
        is_introduced = isinstance(before, Paragraph) and introduces(before.text)
        return before is None or isinstance(before, Heading) or is_introduced

    def _indented_code(self) -> Code:
        lines = self._take(lambda line: not line.strip() or indent_width(line) >= CODE_INDENT)
        while not lines[-1].strip():
            lines.pop()
        return Code("", tuple(dedent(line, CODE_INDENT) for line in lines))

    def _is_table(self) -> bool:
        line = self._lines[self._at]
        following = self._lines[self._at + 1 : self._at + 2]
        if "|" in line and any(map(_COLUMNS.match, following)):
            return True
        # Rows of a table that begins in an earlier passage.
        return not self._paragraph and line.lstrip().startswith("|") and line.count("|") > 1

    def _table(self) -> Table:
        lines = self._take(lambda line: "|" in line)
        if any(map(_COLUMNS.match, lines[1:2])):
            return Table(cells_of(lines[0]), tuple(map(cells_of, lines[2:])))
        return Table((), tuple(cells_of(line) for line in lines if not _COLUMNS.match(line)))

    def _begins_list(self, line: str) -> bool:
        item = _ITEM.match(line)
        if item is None:
            return False
        before = self._paragraph[-1] if self._paragraph else None
        if before is None and self.blocks and isinstance(self.blocks[-1], Paragraph):
            before = self.blocks[-1].text
        if item[2].startswith("("):
            return before is not None and introduces(before)
        # In a wrapped line, `12.` may end a sentence.
        is_free = not self._paragraph or not item[2][0].isdigit() or int(item[2][:-1]) == 1
        return is_free or introduces(self._paragraph[-1])

    def _list(self) -> Listing:
        first = _ITEM.match(self._lines[self._at])
        items: list[Item] = []
        while first and self._at < len(self._lines):
            item = _ITEM.match(self._lines[self._at])
            if item is None or not _is_sibling(first, item):
                break
            lines = self._item_lines(item)
            items.append(Item(item[2], tuple(_Reader(lines, self._depth + 1).blocks)))
            # Blank lines may separate items.
            start = self._at
            self._take(lambda line: not line.strip())
            following = self._lines[self._at : self._at + 1]
            if not any(map(_ITEM.match, following)):
                self._at = start
                break
        return Listing(tuple(items))

    def _begins_definition(self) -> bool:
        is_term = 0 < len(self._paragraph) <= MAX_TERMS
        return is_term and _DEFINITION.match(self._line()) is not None

    def _line(self) -> str:
        """Return the line to read next, empty at the end."""
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _definitions(self) -> Listing:
        items: list[Item] = []
        while self._begins_definition():
            term, self._paragraph = "\n".join(self._paragraph), []
            blocks: list[Block] = []
            while found := _DEFINITION.match(self._line()):
                blocks += _Reader(self._item_lines(found), self._depth + 1).blocks
            match blocks:
                case [Paragraph(text), *more]:
                    blocks = [Paragraph(f"{term}\n: {text}"), *more]
                case _:
                    blocks.insert(0, Paragraph(term))
            items.append(Item(":", tuple(blocks)))
            start = self._at
            self._take(lambda line: not line.strip())
            self._paragraph = self._take(
                lambda line: bool(line.strip() and not _begins_block(line))
            )
        if self._paragraph:
            self._paragraph, self._at = [], start
        return Listing(tuple(items))

    def _item_lines(self, item: re.Match[str]) -> list[str]:
        """Consume the lines of an item, and return them without their indent."""
        depth, width = indent_width(item[1]), item.end()
        lines = [item.string[item.end() :]]
        self._at += 1
        while self._at < len(self._lines):
            start = self._at
            blank = self._take(lambda line: not line.strip())
            if self._at == len(self._lines):
                break
            line = self._lines[self._at]
            if indent_width(line) <= depth and (blank or _begins_block(line)):
                self._at = start
                break
            lines += [*blank, dedent(line, width)]
            self._at += 1
        return lines


def _within_tab(blocks: list[Block]) -> list[Block]:
    """Return the blocks of a quotation; if it is a tab, between its beginning and its end."""
    first = blocks[0] if blocks else None
    tab = _TAB.fullmatch(first.text) if isinstance(first, Paragraph) else None
    return [Tab(tab[1]), *blocks[1:], Tab("")] if tab else blocks


def _begins_block(line: str) -> bool:
    return any(one.match(line) for one in (_ITEM, _DEFINITION, _FENCE, _HEADING, _RULE, _QUOTED))


def _is_sibling(first: re.Match[str], item: re.Match[str]) -> bool:
    kinds = [mark[-1] if mark[-1] in ".)" else "-" for mark in (first[2], item[2])]
    return kinds[0] == kinds[1] and indent_width(item[1]) <= indent_width(first[1]) + 1
