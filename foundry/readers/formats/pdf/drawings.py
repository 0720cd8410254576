"""What is drawn on a PDF's page beside its text: ruled lines and pictures.

By PDFium's own functions: a page has thousands of objects, most of which are text, and a Python
object for each would take a third of the time of reading.
"""

import ctypes
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

from foundry.readers.formats.pdf.tables import MAX_RULES, Rule

MAX_OBJECTS = 10_000
MAX_NESTING = 3
THIN = 2.0
"""Points up to which a filled rectangle is a rule."""
SHORT = 5.0
"""Points up to which a line is part of a drawing."""

_Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""


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
    rules = (rule for path in paths for rule in _rules_of(path, height))
    long = (r for r in rules if max(r.right - r.left, r.bottom - r.top) > SHORT)
    return list(islice(long, MAX_RULES))


def _objects(page: Any, kind: int) -> Iterator[Any]:
    """Yield a page's objects of a kind, those inside of forms too."""
    from pypdfium2 import raw

    form = raw.FPDF_PAGEOBJ_FORM
    get_type = raw.FPDFPageObj_GetType

    def walk(parent: Any, count: Any, get: Any, depth: int) -> Iterator[Any]:
        for number in range(count(parent)):
            found = get(parent, number)
            found_kind = get_type(found)
            if found_kind == kind:
                yield found
            if found_kind == form and depth < MAX_NESTING:
                inner = raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject
                yield from walk(found, *inner, depth + 1)

    outer = raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject
    return islice(walk(page.raw, *outer, 1), MAX_OBJECTS)


def _bounds(drawn: Any) -> _Box | None:
    from pypdfium2 import raw

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not raw.FPDFPageObj_GetBounds(drawn, left, bottom, right, top):
        return None
    return left.value, bottom.value, right.value, top.value


def _rules_of(path: Any, height: float) -> Iterator[Rule]:
    box = _bounds(path)
    if box is None:
        return
    left, bottom, right, top = box
    if right - left < THIN or top - bottom < THIN:
        yield Rule(left, right, height - top, height - bottom)
        return
    for (x, y, _), (next_x, next_y, joins) in pairwise(_corners(path)):
        if joins and (abs(x - next_x) < THIN or abs(y - next_y) < THIN):
            upper, lower = height - max(y, next_y), height - min(y, next_y)
            yield Rule(min(x, next_x), max(x, next_x), upper, lower)


def _corners(path: Any) -> Iterator[tuple[float, float, bool]]:
    """Yield the corners of a path, and whether a line leads to each."""
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(path, matrix):
        return
    a, b, c, d, e, f = matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
    x, y = ctypes.c_float(), ctypes.c_float()
    get_segment, get_point = raw.FPDFPath_GetPathSegment, raw.FPDFPathSegment_GetPoint
    get_type, get_close = raw.FPDFPathSegment_GetType, raw.FPDFPathSegment_GetClose
    start = (0.0, 0.0)
    for number in range(min(raw.FPDFPath_CountSegments(path), MAX_RULES)):
        segment = get_segment(path, number)
        if not get_point(segment, x, y):
            return
        kind = get_type(segment)
        place = a * x.value + c * y.value + e, b * x.value + d * y.value + f
        yield (*place, kind == raw.FPDF_SEGMENT_LINETO)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = place
        if get_close(segment):
            yield (*start, True)
