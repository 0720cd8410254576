"""Finds drawings on a PDF page: ruled lines and pictures.

PDFium's functions are called directly: a page has thousands of objects, most of which are text, and
a Python object for each would take a third of the reading time.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.readers.formats.pdf.pdfium import Address, address_of, function, read_floats
from foundry.readers.formats.pdf.rules import NO_RULES, Rules
from foundry.readers.formats.pdf.tables import MAX_RULES

MAX_OBJECTS = 10_000
MAX_SEGMENTS = 400_000
MAX_NESTING = 3
THIN = 2.0
"""A box with a side shorter than this, in points, is a rule."""
SHORT = 5.0
"""A line of at most this many points is part of a drawing."""


def find_pictures(page: Any) -> list[list[float]]:
    """Return the boxes of a page's pictures: left, bottom, right and top, in points."""
    from pypdfium2 import raw

    boxes: list[list[float]] = _bounds(_objects(page, raw.FPDF_PAGEOBJ_IMAGE)).tolist()
    return boxes


def find_rules(page: Any, height: float) -> Rules:
    """Return horizontal and vertical lines: drawn lines, edges of boxes, and thin boxes.

    Distances are from the top of the page, which has this height.
    """
    from pypdfium2 import raw

    paths = _objects(page, raw.FPDF_PAGEOBJ_PATH)
    if not paths:
        return NO_RULES
    with np.errstate(invalid="ignore", over="ignore"):
        boxes = _bounds(paths)
        sides = boxes[:, 2:] - boxes[:, :2]
        is_long, is_thin = (sides > SHORT).any(axis=1), (sides < THIN).any(axis=1)
        thin, large = np.flatnonzero(is_long & is_thin), np.flatnonzero(is_long & ~is_thin)
        owners, edges = _straight_edges([paths[number] for number in large])
        ends = np.concatenate([boxes[thin], edges])
        order = np.argsort(np.concatenate([thin, large[owners]]), kind="stable")
        x, y, next_x, next_y = ends[order[:MAX_RULES]].T
        top, bottom = height - np.maximum(y, next_y), height - np.minimum(y, next_y)
        return np.stack([np.minimum(x, next_x), np.maximum(x, next_x), top, bottom], axis=1)


def _objects(page: Any, kind: int) -> list[Address]:
    """Return a page's objects of a kind, including those inside forms."""
    from pypdfium2 import raw

    get_type = function("FPDFPageObj_GetType")
    inner = function("FPDFFormObj_CountObjects"), function("FPDFFormObj_GetObject")

    def walk(parent: Address, count: Any, get: Any, depth: int) -> Iterator[Address]:
        found = list(map(get, repeat(parent), range(count(parent))))
        for each, found_kind in zip(found, list(map(get_type, found)), strict=True):
            if found_kind == kind:
                yield each
            elif found_kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_NESTING:
                yield from walk(each, *inner, depth + 1)

    outer = function("FPDFPage_CountObjects"), function("FPDFPage_GetObject")
    return list(islice(walk(address_of(page.raw), *outer, 1), MAX_OBJECTS))


def _bounds(drawn: Sequence[Address]) -> NDArray[np.float64]:
    return read_floats("FPDFPageObj_GetBounds", 4, 4, drawn).astype(float)


def _straight_edges(
    paths: Sequence[Address],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ruled lines in some paths: the path's position, and the ends of each line."""
    from pypdfium2 import raw

    counts = [min(n, MAX_RULES) for n in map(function("FPDFPath_CountSegments"), paths)]
    get_segment = function("FPDFPath_GetPathSegment")
    each = (map(get_segment, repeat(path), range(n)) for path, n in zip(paths, counts, strict=True))
    segments = list(islice(chain.from_iterable(each), MAX_SEGMENTS))
    owners = np.repeat(np.arange(len(paths)), counts)[: len(segments)]
    x, y = read_floats("FPDFPathSegment_GetPoint", 2, 2, segments).astype(float).T
    matrices = read_floats("FPDFPageObj_GetMatrix", 6, 1, paths)
    a, b, c, d, e, f = matrices[owners].astype(float).T
    ends = np.stack([a * x + c * y + e, b * x + d * y + f], axis=1)
    # The segment that closes a figure is a separate line in PDFium.
    edges = np.concatenate([np.roll(ends, 1, axis=0), ends], axis=1)
    sides = np.abs(edges[:, 2:] - edges[:, :2])
    found = np.flatnonzero((sides > SHORT).any(axis=1) & (sides < THIN).any(axis=1))
    last = [segments[end] for end in found.tolist()]
    kinds = np.fromiter(map(function("FPDFPathSegment_GetType"), last), int, len(last))
    found = found[kinds == raw.FPDF_SEGMENT_LINETO]
    return owners[found], edges[found]
