"""What is drawn on a PDF's page beside its text: ruled lines and pictures.

By PDFium's own functions: a page has thousands of objects, most of which are text, and a Python
object for each would take a third of the time of reading.
"""

import ctypes
from collections.abc import Iterator
from functools import cache
from itertools import islice, repeat
from typing import Any

from foundry.readers.formats.pdf.pdfium import address_of, function
from foundry.readers.formats.pdf.tables import MAX_RULES, Rule

MAX_OBJECTS = 10_000
MAX_NESTING = 3
THIN = 2.0
"""Points up to which a filled rectangle is a rule."""
SHORT = 5.0
"""Points up to which a line is part of a drawing."""

_Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""
_Point = tuple[float, float]


def find_pictures(page: Any) -> Iterator[_Box]:
    """Yield the boxes of a page's pictures, in points from its left and bottom."""
    from pypdfium2 import raw

    yield from filter(None, map(_bounds, _objects(page, raw.FPDF_PAGEOBJ_IMAGE)))


def find_rules(page: Any, height: float) -> list[Rule]:
    """Return horizontal and vertical lines: those drawn, edges of boxes, and thin boxes.

    Distances are from the top of the page, which has this height.
    """
    from pypdfium2 import raw

    paths = _objects(page, raw.FPDF_PAGEOBJ_PATH)
    return list(islice((rule for path in paths for rule in _rules_of(path, height)), MAX_RULES))


def _objects(page: Any, kind: int) -> Iterator[int]:
    """Yield a page's objects of a kind, those inside of forms too."""
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
    return islice(walk(address_of(page.raw), *outer, 1), MAX_OBJECTS)


def _bounds(drawn: int) -> _Box | None:
    box = (ctypes.c_float * 4)()
    first = ctypes.addressof(box)
    if not function("FPDFPageObj_GetBounds")(drawn, *range(first, first + 16, 4)):
        return None
    left, bottom, right, top = box
    return left, bottom, right, top


def _rules_of(path: int, height: float) -> Iterator[Rule]:
    box = _bounds(path)
    if box is None:
        return
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

    matrix, point = (ctypes.c_float * 6)(), (ctypes.c_float * 2)()
    if not function("FPDFPageObj_GetMatrix")(path, ctypes.addressof(matrix)):
        return
    a, b, c, d, e, f = matrix
    to_x = ctypes.addressof(point)
    get_point, to_y = function("FPDFPathSegment_GetPoint"), to_x + 4
    numbers = range(min(function("FPDFPath_CountSegments")(path), MAX_RULES))
    segments = list(map(function("FPDFPath_GetPathSegment"), repeat(path), numbers))

    # No line leads to most of the points of a curve, which need not be asked for.
    @cache
    def place(number: int) -> _Point:
        get_point(segments[number], to_x, to_y)
        x, y = point
        return a * x + c * y + e, b * x + d * y + f

    kinds = map(function("FPDFPathSegment_GetType"), segments)
    closes = map(function("FPDFPathSegment_GetClose"), segments)
    start = before = 0
    for number, kind, is_closed in zip(numbers, kinds, closes, strict=True):
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = number
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield place(before), place(number)
        before = number
        if is_closed:
            yield place(number), place(start)
            before = start
