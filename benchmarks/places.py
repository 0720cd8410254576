"""Finds, without Foundry, under which heading and in which cell the words of a document are.

`compare`, for `words.py`, counts the words that a reading has under another heading than the
document, and the cells that it has in another column.
"""

import csv
import io
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from foundry.documents import Reading
from foundry.readers.accounting.words import count_words

Grid = list[list[str]]
MAX_COLUMNS = 200
_SLACK = 2


@dataclass
class Outline:
    """The sections of a document, each with title and text, and the cells of its tables."""

    sections: list[tuple[str, list[str]]] = field(default_factory=lambda: [("", [])])
    tables: list[Grid] = field(default_factory=list)

    def begin(self, title: str) -> None:
        """Begin a section; its title is part of its text."""
        self.sections.append((title, [title]))

    def add(self, text: str) -> None:
        """Add a text to the last section."""
        self.sections[-1][1].append(text)


class Misplaced(NamedTuple):
    """Misplaced words and cells, and the numbers of words and cells that were compared.

    Words that were lost or left out are not included.
    """

    words: int = 0
    of_words: int = 0
    cells: int = 0
    of_cells: int = 0


def compare(path: str, content: bytes, reading: Reading, title: str) -> Misplaced:
    """Compare a document with its reading; for unknown formats, nothing is counted."""
    outline = outline_of(path, content)
    if outline is None:
        return Misplaced()
    known = {_key(section) for section, _ in outline.sections}
    ours = Outline(tables=list(_pipe_tables(reading.text)))
    ends = [*(each.start for each in reading.headings), len(reading.text)]
    ours.add(reading.text[: ends[0]])
    level = 0
    for heading, end in zip(reading.headings, ends[1:], strict=True):
        # A deeper heading that the source does not have is the name of a definition within its
        # section.
        if heading.level <= level or _key(heading.text) in known:
            ours.begin(heading.text)
            level = heading.level
        else:
            ours.add(heading.text)
        ours.add(reading.text[heading.end : end])
    there, here = _by_title(outline), _by_title(ours)
    there.pop((), None)
    all_there, all_here = _sum(there), _sum(here) + count_words(title)
    # The first heading of a page is its title, which does not occur again in the text.
    here.setdefault(_key(title), here.get((), Counter()) + count_words(title))
    words = of_words = 0
    if there:
        apart = sum((found - here.get(key, Counter())).total() for key, found in there.items())
        words, of_words = apart - (all_there - all_here).total(), all_there.total()
    return Misplaced(max(words, 0), of_words, *_compare_tables(outline.tables, ours.tables))


def _key(title: str) -> tuple[str, ...]:
    return tuple(sorted(count_words(title).elements()))


def _by_title(outline: Outline) -> dict[tuple[str, ...], Counter[str]]:
    found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for title, texts in outline.sections:
        found[_key(title)] += count_words(" ".join(texts))
    return dict(found)


def _sum(counts: Mapping[tuple[str, ...], Counter[str]]) -> Counter[str]:
    return sum(counts.values(), Counter())


def _compare_tables(there: Iterable[Grid], here: Iterable[Grid]) -> tuple[int, int]:
    rows: dict[frozenset[str], list[list[Counter[str]]]] = defaultdict(list)
    for grid in here:
        for row in _rows(grid):
            rows[frozenset().union(*row)].append(row)
    wrong = total = 0
    for grid in there:
        for row in _rows(grid):
            # Rows are matched by their words. Lost rows have no columns to compare.
            found = rows.get(frozenset().union(*row))
            if found and sum(map(bool, row)) > 1:
                total += sum(map(bool, row))
                wrong += min(_differing(row, each) for each in found)
    return wrong, total


def _differing(row: Sequence[Counter[str]], other: Sequence[Counter[str]]) -> int:
    empty: Counter[str] = Counter()
    pairs = zip_longest(row, other, fillvalue=empty)
    return sum(bool(one) and one != two for one, two in pairs)


def _rows(grid: Grid) -> list[list[Counter[str]]]:
    """Return the words of each cell, without columns that are completely empty."""
    columns = [column for column in zip_longest(*grid, fillvalue="") if "".join(column).strip()]
    return [[count_words(cell) for cell in row] for row in zip(*columns, strict=True)]


def _pipe_tables(text: str) -> Iterator[Grid]:
    for table in re.findall(r"(?:^[ \t]*\|.*\|[ \t]*\n?)+", text, re.MULTILINE):
        yield [
            [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
            for line in table.splitlines()
            if not re.fullmatch(r"[\s|:-]+", line)
        ]


def outline_of(path: str, content: bytes) -> Outline | None:
    """Return a document's outline by the suffix of its name; None for unknown formats."""
    ending = PurePosixPath(path).suffix.lower()
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    try:
        if ending in {".html", ".htm", ".xhtml"}:
            return _Page.outline(text)
        if ending == ".epub":
            return _epub(content)
        if ending == ".docx":
            return _docx(content)
        if ending == ".xlsx":
            return _xlsx(content)
        if ending in {".odt", ".ods"}:
            return _opendocument(content)
        if ending == ".csv":
            return Outline(tables=[[*csv.reader(io.StringIO(text))]])
        if ending in _LINES:
            return _by_lines(text, *_LINES[ending])
    except (KeyError, ValueError, zipfile.BadZipFile, ElementTree.ParseError, csv.Error):
        pass
    return None


class _Page(HTMLParser):
    """Headings and tables of a page; an inner table belongs to the cell that contains it."""

    _NO_TEXT = frozenset(("script", "style", "template", "svg", "title"))
    _WITHIN = frozenset("a abbr b bdi code em i kbd q s small span strong sub sup tt u var".split())

    def __init__(self, outline: Outline) -> None:
        super().__init__()
        self._outline = outline
        self._heading: list[str] | None = None
        self._silent = 0
        self._depth = 0
        self._grid: dict[tuple[int, int], str] = {}
        self._row = -1
        self._cell: tuple[list[str], int, int] | None = None

    @classmethod
    def outline(cls, *pages: str) -> Outline:
        """Return the outline of consecutive pages."""
        outline = Outline()
        for page in pages:
            parser = cls(outline)
            parser.feed(page)
            parser.close()
        return outline

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a heading, a table, a row or a cell."""
        self._silent += tag in self._NO_TEXT
        if re.fullmatch(r"h[1-6]", tag):
            self._heading = []
        elif tag == "table":
            self._depth += 1
            if self._depth == 1:
                self._grid, self._row = {}, -1
        elif self._depth == 1 and tag in {"tr", "td", "th"}:
            self._close_cell()
            if tag == "tr":
                self._row += 1
            else:
                given = dict(attrs)
                self._cell = [], _number(given.get("colspan")), _number(given.get("rowspan"))
        if tag not in self._WITHIN:
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        """End the element."""
        self._silent = max(self._silent - (tag in self._NO_TEXT), 0)
        if re.fullmatch(r"h[1-6]", tag) and self._heading is not None:
            title, self._heading = " ".join("".join(self._heading).split()), None
            self._outline.begin(title)
        elif tag in {"td", "th", "tr", "table"} and self._depth == 1:
            self._close_cell()
        if tag == "table" and self._depth:
            self._depth -= 1
            if not self._depth:
                self._outline.tables.append(_fill(self._grid))
        if tag not in self._WITHIN:
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        """Add text to the heading, or to the section and the cell."""
        if self._silent:
            return
        if self._heading is not None:
            self._heading.append(data)
            return
        self._outline.add(data)
        if self._cell is not None:
            self._cell[0].append(data)

    def _close_cell(self) -> None:
        if self._cell is not None:
            texts, columns, rows = self._cell
            self._cell = None
            _place(self._grid, max(self._row, 0), "".join(texts), columns, rows)


def _number(written: str | None) -> int:
    return min(max(int(written), 1), MAX_COLUMNS) if written and written.isdigit() else 1


def _place(
    grid: dict[tuple[int, int], str], row: int, text: str, columns: int = 1, rows: int = 1
) -> None:
    """Put a text into the first free cell of a row, and into all cells that it spans."""
    column = next(number for number in range(10_000) if (row, number) not in grid)
    for down in range(rows):
        for right in range(columns):
            grid.setdefault((row + down, column + right), text)


def _fill(grid: Mapping[tuple[int, int], str]) -> Grid:
    if not grid:
        return []
    width = max(column for _, column in grid) + 1
    rows = sorted({row for row, _ in grid})
    return [[grid.get((row, column), "") for column in range(width)] for row in rows]


def _epub(content: bytes) -> Outline:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith((".xhtml", ".html", ".htm"))]
        pages = [archive.read(name).decode("utf-8", "replace") for name in names]
    return _Page.outline(*pages)


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _attribute(element: Element | None, name: str) -> str:
    found = {} if element is None else element.attrib
    return next((value for key, value in found.items() if key.rpartition("}")[2] == name), "")


def _first(element: Element, *path: str) -> Element | None:
    for name in path:
        below = next((each for each in element if _local(each) == name), None)
        if below is None:
            return None
        element = below
    return element


def _docx(content: bytes) -> Outline:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        body = ElementTree.fromstring(archive.read("word/document.xml"))
        styles = {}
        if "word/styles.xml" in archive.namelist():
            for style in ElementTree.fromstring(archive.read("word/styles.xml")):
                name = _attribute(_first(style, "name"), "val").casefold()
                base = _attribute(_first(style, "basedOn"), "val")
                styles[_attribute(style, "styleId")] = name, base
    outline = Outline()

    def is_heading(paragraph: Element) -> bool:
        style = _attribute(_first(paragraph, "pPr", "pStyle"), "val")
        for _ in range(20):
            name, base = styles.get(style, ("", ""))
            if re.fullmatch(r"heading [1-9]|title", name):
                return True
            style = base
        return False

    def walk(element: Element) -> None:
        for each in element:
            if _local(each) == "p":
                text = _words_of(each)
                (outline.begin if is_heading(each) else outline.add)(text)
            elif _local(each) == "tbl":
                outline.tables.append(_word_table(each))
                outline.add(
                    " ".join(_words_of(part) for part in each.iter() if _local(part) == "p")
                )
            elif _local(each) in {"body", "sdt", "sdtContent"}:
                walk(each)

    walk(body)
    return outline


def _words_of(element: Element) -> str:
    texts = {"t": None, "tab": " ", "br": " ", "s": " ", "line-break": " "}
    return "".join(
        texts[_local(each)] or each.text or "" for each in element.iter() if _local(each) in texts
    )


def _word_table(table: Element) -> Grid:
    grid: dict[tuple[int, int], str] = {}
    for number, row in enumerate(each for each in table if _local(each) == "tr"):
        for cell in (each for each in row if _local(each) == "tc"):
            column = next(free for free in range(10_000) if (number, free) not in grid)
            text = " ".join(_words_of(each) for each in cell.iter() if _local(each) == "p")
            merge = _first(cell, "tcPr", "vMerge")
            if merge is not None and _attribute(merge, "val") != "restart":
                text = grid.get((number - 1, column), text)
            _place(grid, number, text, _number(_attribute(_first(cell, "tcPr", "gridSpan"), "val")))
    return _fill(grid)


def _xlsx(content: bytes) -> Outline:
    """Return the texts of sheets; numbers have too many formats to be compared."""
    outline = Outline()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        shared: list[str] = []
        if "xl/sharedStrings.xml" in names:
            strings = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
            shared = [_words_of(each) for each in strings]
        for name in filter(re.compile(r"xl/worksheets/sheet\d+\.xml").fullmatch, names):
            grid: dict[tuple[int, int], str] = {}
            for cell in ElementTree.fromstring(archive.read(name)).iter():
                place = re.fullmatch(r"([A-Z]{1,3})(\d+)", _attribute(cell, "r"))
                if _local(cell) == "c" and place:
                    column = 0
                    for letter in place[1]:
                        column = column * 26 + ord(letter) - 64
                    kind, value = _attribute(cell, "t"), _first(cell, "v")
                    if kind == "s" and value is not None:
                        grid[int(place[2]), column] = shared[int(value.text or 0)]
                    elif kind == "inlineStr":
                        grid[int(place[2]), column] = _words_of(cell)
            if grid and max(column for _, column in grid) <= MAX_COLUMNS:
                outline.tables.append(_fill(grid))
    return outline


def _opendocument(content: bytes) -> Outline:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        root = ElementTree.fromstring(archive.read("content.xml"))
    outline = Outline()

    def walk(element: Element) -> None:
        for each in element:
            if _local(each) in {"h", "p"}:
                text = "".join(each.itertext())
                (outline.begin if _local(each) == "h" else outline.add)(text)
            elif _local(each) == "table":
                outline.tables.append(_sheet(each))
                outline.add(" ".join(each.itertext()))
            else:
                walk(each)

    walk(root)
    return outline


def _sheet(table: Element) -> Grid:
    grid: dict[tuple[int, int], str] = {}
    rows = [each for each in table.iter() if _local(each) == "table-row"]
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            if _local(cell) not in {"table-cell", "covered-table-cell"}:
                continue
            repeated = _number(_attribute(cell, "number-columns-repeated"))
            text = " ".join("".join(each.itertext()) for each in cell)
            if _local(cell) == "table-cell" and text:
                down = _number(_attribute(cell, "number-rows-spanned"))
                right = max(repeated, _number(_attribute(cell, "number-columns-spanned")))
                for place in range(down * right):
                    grid.setdefault((number + place // right, column + place % right), text)
            column += repeated
    return _fill(grid)


# Titles are compared without their attributes and anchors.
_MARKS = re.compile(r"[ ]\{[#.][^{}]*\}$|</?[A-Za-z][^<>]*>")
_HASHES = re.compile(r"#{1,6}[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*")
_LINES: dict[str, tuple[re.Pattern[str], str, str]] = {
    # Each suffix has patterns of one-line titles, of underlines and of code fences.
    **dict.fromkeys(
        (".md", ".mdx", ".markdown"), (_HASHES, "=-", r"[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})")
    ),
    ".adoc": (re.compile(r"={1,6}[ \t]+(.+)"), "=-~^+", r"(-{4,}|\.{4,}|`{3,})[ \t]*$"),
    ".org": (re.compile(r"\*{1,8}[ \t]+(.+)"), "", r"(?i)[ \t]*#\+(begin_|end_)"),
    ".rst": (re.compile(r"(?!)"), "=-~^\"'`+*#:._<>", r"(?!)"),
}


def _by_lines(text: str, title: re.Pattern[str], underlines: str, fence: str) -> Outline:
    outline = Outline()
    lines = [*text.split("\n"), ""]
    closing = ""
    for number, line in enumerate(lines):
        below = lines[number + 1].rstrip() if number + 1 < len(lines) else ""
        above = lines[number - 1].rstrip() if number and not closing else ""
        mark = re.match(fence, line)
        is_rule = line[:1] in underlines and line == line[:1] * len(line)
        if mark and is_rule and len(above) > _SLACK and abs(len(line) - len(above)) <= _SLACK:
            continue
        if mark and (not closing or mark[1].startswith(closing)):
            closing = "" if closing else mark[1].replace("begin_", "end_")
        elif not closing:
            is_above = number == 0 or not lines[number - 1].strip() or len(lines[number - 1]) > 3
            if found := title.fullmatch(line):
                outline.begin(_MARKS.sub("", found[1]))
                continue
            if (
                line[:1].strip()
                and below
                and below[0] in underlines
                and below == below[0] * len(below)
                and abs(len(below) - len(line.rstrip())) <= _SLACK
                and is_above
            ):
                outline.begin(line)
                continue
        outline.add(line)
    return outline
