"""Finds lines that the pages of a PDF repeat: headers, footers, page numbers, stamps."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import median

from foundry.documents.left_out import Omission
from foundry.readers.formats.pdf.layout import LARGER, body_size
from foundry.readers.formats.pdf.lines import Line
from foundry.readers.notes import leave_out

EDGE_LINES = 3
MIN_RUNNING = 3
EDGE = 0.12
"""Share of a page's height, at its top and bottom, in which running lines may be."""
SAME_PLACE = 0.02
"""Tolerance for the vertical position of running lines, as a share of the page's height."""
RARELY_TWICE = 1.1
"""A line that occurs more often per page, on average, is not a running line but, for example, a
value in a column.
"""

_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
# A word and its number: "Lesson 2"; but "Page 2" is not a heading.
_NUMBERED = re.compile(r"[^\W\d_]{3,}\s+\d+(?:\.\d+)*[.:]?")
_PAGE = re.compile(
    r"(?:pages?|seite|p[aá]gin[ae]|p[aá]g|pagina|sid[ae]|sivu|side|strana|strona|folio|blatt|sheet"
    r"|slide|folie|страница|стр|лист)\b",
    re.IGNORECASE,
)


_RunningKey = tuple[str, bool, int]
"""The words of a line, whether it is at a page's top, and its angle."""


def _running_key(line: Line, lines: Sequence[Line], body: float, angle: int) -> _RunningKey | None:
    if line.angle != angle and _LETTER.search(line.text):
        return line.text, True, line.angle
    is_top = line.bottom <= EDGE
    if line.rows or line.size > LARGER * body or not (is_top or line.top >= 1 - EDGE):
        return None
    is_heading = _NUMBERED.fullmatch(line.text) and not _PAGE.match(line.text)
    if line.size >= body and is_heading:
        return None
    edge = sorted(lines, key=lambda each: each.top if is_top else -each.top)[:EDGE_LINES]
    return (_DIGITS.sub("0", line.text), is_top, line.angle) if line in edge else None


def _usual_angle(lines: Iterable[Line]) -> int:
    """Return the angle of most text on a page; 0 without lines."""
    angles: Counter[int] = Counter()
    for line in lines:
        angles[line.angle] += len(line.text)
    return max(angles, key=lambda angle: (angles[angle], -angle), default=0)


def drop_running_lines(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Drop lines in small type that many pages have in the same place at their top or bottom.

    Page numbers in them may differ; fewer pages are enough if one of the numbers counts the pages.
    Numbered headings stay, and so does text that is repeated within a page. Text at a different
    angle from the rest of the page is a stamp if many pages have it, and is dropped as well.
    """
    body = body_size(chain.from_iterable(pages))
    places: dict[_RunningKey, list[tuple[int, Line]]] = {}
    for number, lines in enumerate(pages):
        angle = _usual_angle(lines)
        for line in lines:
            if key := _running_key(line, lines, body, angle):
                places.setdefault(key, []).append((number, line))
    many = max(MIN_RUNNING, 0.3 * sum(1 for lines in pages if lines))
    running: set[int] = set()
    for found in places.values():
        height = median(line.top for _, line in found)
        alike = [(page, line) for page, line in found if abs(line.top - height) < SAME_PLACE]
        on = len({page for page, _ in alike})
        if on < MIN_RUNNING or len(alike) > RARELY_TWICE * on:
            continue
        if on >= many or _counts_pages(alike):
            running.update(id(line) for _, line in alike)
    kept = [[line for line in lines if id(line) not in running] for lines in pages]
    if not any(kept):
        return [list(lines) for lines in pages]
    for number, lines in enumerate(pages, 1):
        for line in lines:
            if id(line) in running:
                leave_out(Omission.RUNNING_LINE, line.text, f"page {number}")
    return kept


def _counts_pages(found: Sequence[tuple[int, Line]]) -> bool:
    """Return whether a number in the lines counts the pages."""
    distances = [
        {int(digits) - page for digits in _DIGITS.findall(line.text[:200]) if len(digits) < 7}
        for page, line in found
    ]
    return bool(set.intersection(*distances))
