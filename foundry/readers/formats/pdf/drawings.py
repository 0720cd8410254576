"""What is drawn on a PDF's page beside its text: ruled lines and pictures.

By PDFium's own functions: a page has thousands of objects, most of which are text, and a Python
object for each would take a third of the time of reading.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, repeat
from typing import Any

from foundry.readers.formats.pdf.pdfium import address_of, function, read_floats
from foundry.readers.formats.pdf.tables import MAX_RULES, Rule

MAX_OBJECTS = 10_000
MAX_NESTING = 3
THIN = 2.0
"""Points up to which a filled rectangle is a rule."""
SHORT = 5.0
"""Points up to which a line is part of a drawing."""

_Box = tuple[float, ...]
"""Left, bottom, right and top."""
_Point = tuple[float, float]


def find_pictures(page: Any) -> Iterator[_Box]:
    """Yield the boxes of a page's pictures, in points from its left and bottom."""
    from pypdfium2 import raw

    return _bounds(_objects(page, raw.FPDF_PAGEOBJ_IMAGE))


def find_rules(page: Any, height: float) -> list[Rule]:
    """Return horizontal and vertical lines: those drawn, edges of boxes, and thin boxes.

    Distances are from the top of the page, which has this height.
    """
    from pypdfium2 import raw

    paths = _objects(page, raw.FPDF_PAGEOBJ_PATH)
    drawn = zip(paths, _bounds(paths), strict=True)
    rules = (rule for path, box in drawn for rule in _rules_of(path, box, height))
    return list(islice(rules, MAX_RULES))


def _objects(page: Any, kind: int) -> list[int]:
    """Return a page's objects of a kind, those inside of forms too."""
    from pypdfium2 import raw

    get_type = function("FPDFPageObj_GetType")
    inner = function("FPDFFormObj_CountObjects"), function("FPDFFormObj_GetObject")

    def walk(parent: int, count: Any, get: Any, depth: int) -> Iterator[int]:
        for found in map(get, repeat(parent), range(count(parent))):
            found_kind = get_type(found)
            if found_kind == kind:
                yield found
            elif found_kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_NESTING:
                yield from walk(found, *inner, depth + 1)

    outer = function("FPDFPage_CountObjects"), function("FPDFPage_GetObject")
    return list(islice(walk(address_of(page.raw), *outer, 1), MAX_OBJECTS))


def _bounds(drawn: Sequence[int]) -> Iterator[_Box]:
    return read_floats("FPDFPageObj_GetBounds", 4, drawn)


def _rules_of(path: int, box: _Box, height: float) -> Iterator[Rule]:
    left, bottom, right, top = box
    if right - left <= SHORT and top - bottom <= SHORT:
        return
    if right - left < THIN or top - bottom < THIN:
        yield Rule(left, right, height - top, height - bottom)
        return
    for (x, y), (next_x, next_y) in _edges(path):
        across, up = abs(x - next_x), abs(y - next_y)
        if (across < THIN or up < THIN) and (across > SHORT or up > SHORT):
            upper, lower = height - max(y, next_y), height - min(y, next_y)
            yield Rule(min(x, next_x), max(x, next_x), upper, lower)


def _edges(path: int) -> Iterator[tuple[_Point, _Point]]:
    """Yield the ends of each straight line of a path."""
    from pypdfium2 import raw

    numbers = range(min(function("FPDFPath_CountSegments")(path), MAX_RULES))
    segments = list(map(function("FPDFPath_GetPathSegment"), repeat(path), numbers))
    points = read_floats("FPDFPathSegment_GetPoint", 2, segments)
    kinds = map(function("FPDFPathSegment_GetType"), segments)
    closes = map(function("FPDFPathSegment_GetClose"), segments)
    ((a, b, c, d, e, f),) = read_floats("FPDFPageObj_GetMatrix", 6, [path])
    start = before = (0.0, 0.0)
    for (x, y), kind, is_closed in zip(points, kinds, closes, strict=True):
        place = a * x + c * y + e, b * x + d * y + f
        if kind == raw.FPDF_SEGMENT_LINETO:
            yield before, place
        elif kind == raw.FPDF_SEGMENT_MOVETO:
            start = place
        before = place
        if is_closed:
            yield place, start
            before = start
