"""Turns the lines of pages into text with an outline: paragraphs, headings, no running headers."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from foundry.documents import Reading
from foundry.readers.composing import Composer
from foundry.readers.formats.pdf.divided import DividedWords
from foundry.readers.formats.pdf.lines import Line, begins_paragraph, join_divided

MAX_HEADING_CHARS = 160
MAX_HEADING_LEVELS = 4
LARGER = 1.15
"""Minimum size of headings, relative to body text."""
HEADINGS_SHARE = 0.15
FEW_LINES = 4
"""Headings of one size have at most this many lines, or at most HEADINGS_SHARE of the text."""

_LETTER = re.compile(r"[^\W\d_]")
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|part|appendix)\s+)?[\divxlc]*[\d.]*[.):]?\s+", re.I
)
_SECTION_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2})*[.)]?\s")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
# Titles of bookmarks that say nothing about the text.
_NO_HEADING = re.compile(
    r"(?:\W|\d|blank|page|slide|sheet|seite|leere|folie|blatt|página|vierge|diapositive|untitled)*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the outline: its level from 1, and the page that it leads to, from 0.

    `top` is where on the page, as in a Line.
    """

    level: int
    title: str
    page: int
    top: float = 0.0


def compose(
    pages: Sequence[Sequence[Line]],
    outline: Sequence[Entry],
    *,
    title: str | None,
    modified: str | None,
) -> Reading:
    """Return the reading of a document with these pages; its text keeps the line breaks."""
    joined = join_divided(pages)
    sizes = _heading_sizes(joined)
    joined = [_join_headings(lines, sizes) for lines in joined]
    pages, levels = _find_headings(joined, outline, sizes)
    added = {line.text for line in chain.from_iterable(pages) if line.top == line.bottom}
    divided = DividedWords(line.text for line in chain.from_iterable(pages))
    composer = Composer()
    for number, lines in enumerate(pages):
        composer.page()
        paragraph: list[str] = []
        previous: Line | None = None
        for place, line in enumerate(lines):
            level = levels.get((number, place))
            if level or line.rows or (previous and begins_paragraph(previous, line)):
                composer.text(divided.join("\n".join(paragraph)))
                paragraph = []
            if level:
                composer.heading(level, divided.join(_LINK.sub(r"\1", line.text)))
            elif line.rows:
                composer.table([[divided.join(cell) for cell in row] for row in line.rows])
            else:
                paragraph.append(line.text)
            previous = line
        composer.text(divided.join("\n".join(paragraph)))
    reading = composer.finish(title=title, modified=modified)
    # A bookmark such as "Introduction" is not the title of the document.
    is_bookmark = reading.title and not title and reading.title in added
    return replace(reading, title=None) if is_bookmark else reading


def body_size(lines: Iterable[Line]) -> float:
    """Return the most frequent type size, by characters; 0.0 without lines."""
    sizes: Counter[float] = Counter()
    for line in lines:
        # The type size of text in a picture is unknown.
        sizes[line.size] += len(line.text) if line.size else 0
    return max(sizes, key=lambda size: (sizes[size], -size), default=0.0)


def _heading_sizes(pages: Iterable[Sequence[Line]]) -> list[float]:
    """Return the sizes larger than body text that few characters have, largest first."""
    lines = list(chain.from_iterable(pages))
    body = body_size(lines)
    written = sum(len(line.text) for line in lines)
    found = []
    for size in sorted({line.size for line in lines if line.size > LARGER * body}, reverse=True):
        texts = [line.text for line in lines if line.size == size and not line.angle]
        if len(texts) <= FEW_LINES or sum(map(len, texts)) <= HEADINGS_SHARE * written:
            found.append(size)
    return found


def _join_headings(lines: Sequence[Line], sizes: Sequence[float]) -> list[Line]:
    """Join the lines of a heading; a line that begins with a number starts another heading."""
    joined: list[Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        if (
            last
            and not (line.rows or last.rows)
            and line.size == last.size
            and line.size in sizes
            and not begins_paragraph(last, line)
            and not _SECTION_NUMBER.match(line.text)
            and len(last.text) + len(line.text) < MAX_HEADING_CHARS
        ):
            joined[-1] = replace(last, text=f"{last.text} {line.text}", bottom=line.bottom)
        else:
            joined.append(line)
    return joined


def _find_headings(
    pages: list[list[Line]], outline: Sequence[Entry], sizes: Sequence[float]
) -> tuple[list[list[Line]], dict[tuple[int, int], int]]:
    """Return the pages, and the levels of headings by page and line.

    Entries of the outline become lines on pages without headings, unless their title is there.
    """
    found, missing = _find_entries(pages, outline)
    is_complete = found and 2 * len(found) >= len(outline)
    levels = found if is_complete else _levels_by_size(pages, sizes) or found
    with_heading = {page for page, _ in levels}
    added: dict[int, list[Entry]] = {}
    for entry in missing:
        if entry.page not in with_heading and not _NO_HEADING.fullmatch(entry.title):
            added.setdefault(entry.page, []).append(entry)
    for number, entries in added.items():
        text = _title_key(" ".join(line.text for line in pages[number]))
        own = [entry for entry in entries if _title_key(entry.title) not in text]
        pages[number], new = _insert(pages[number], own)
        levels |= {(number, place): level for place, level in new.items()}
    return pages, levels


def _insert(lines: Sequence[Line], entries: Iterable[Entry]) -> tuple[list[Line], dict[int, int]]:
    """Return lines with the titles of entries above the text that they lead to, and their levels.

    A destination is at the top of a line, or somewhat above it. If several entries lead to the same
    line, each must be below the one before it in the outline; otherwise, none is inserted.
    """
    places: dict[int, list[Entry]] = {}
    for entry in sorted(entries, key=lambda each: each.top):
        below = (n for n, line in enumerate(lines) if (line.top + line.bottom) / 2 > entry.top)
        places.setdefault(next(below, len(lines)), []).append(entry)
    whole: list[Line] = []
    levels: dict[int, int] = {}
    for place, line in enumerate(lines):
        own = places.get(place, [])
        if all(entry.level > before.level for before, entry in pairwise(own)):
            for entry in own:
                levels[len(whole)] = entry.level
                whole.append(Line(entry.title, 0.0, line.top, line.top))
        whole.append(line)
    return whole, levels


def _find_entries(
    pages: Sequence[Sequence[Line]], outline: Sequence[Entry]
) -> tuple[dict[tuple[int, int], int], list[Entry]]:
    """Return heading levels by page and line, and the entries that are not found on their page."""
    levels: dict[tuple[int, int], int] = {}
    missing: list[Entry] = []
    wanted: dict[int, list[Entry]] = {}
    for entry in outline:
        wanted.setdefault(entry.page, []).append(entry)
    for page, entries in wanted.items():
        if not 0 <= page < len(pages):
            continue
        places: dict[str, list[int]] = {}
        for place, line in enumerate(pages[page]):
            if line.rows:
                continue
            for key in {_title_key(line.text), _title_key(_NUMBERING.sub("", line.text))}:
                places.setdefault(key, []).append(place)
        for entry in entries:
            names = (entry.title, _NUMBERING.sub("", entry.title))
            found = [place for name in names for place in places.get(_title_key(name), [])]
            free = [place for place in found if (page, place) not in levels]
            if free:
                # A running header may repeat a heading in smaller type.
                best = max(free, key=lambda place: (pages[page][place].size, -place))
                levels[page, best] = entry.level
            else:
                missing.append(entry)
    return levels, missing


def _levels_by_size(
    pages: Sequence[Sequence[Line]], sizes: Sequence[float]
) -> dict[tuple[int, int], int]:
    """Return heading levels by page and line; the largest type has level 1."""
    candidates = {
        (number, place): line.size
        for number, lines in enumerate(pages)
        for place, line in enumerate(lines)
        if not (line.rows or line.angle)
        and line.size in sizes
        and len(line.text) <= MAX_HEADING_CHARS
        and _LETTER.search(line.text)
    }
    used = sorted(set(candidates.values()), reverse=True)
    ranks = {size: min(rank, MAX_HEADING_LEVELS) for rank, size in enumerate(used, 1)}
    return {place: ranks[size] for place, size in candidates.items()}


def _title_key(text: str) -> str:
    return re.sub(r"[\W_]+", "", _LINK.sub(r"\1", text)).lower()
