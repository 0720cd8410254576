"""A page of a PDF as PDFium sees it: its lines in their order, and its tables."""

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from foundry.readers.decoding import normalise
from foundry.readers.formats.pdf_cells import Rule, Word
from foundry.readers.formats.pdf_layout import Line, put_in_tables
from foundry.readers.formats.pdf_tables import MAX_RULES, MAX_WORDS, find_tables
from foundry.readers.recognition import MAX_SIDE

STAMP_CHARS = 60
PICTURE_SHARE = 0.3
"""Of a page, which a picture covers that is read as text."""
DPI = 200
"""At which pages are rendered to be read."""
MAX_PATHS = 10_000
MAX_NESTING = 3
THIN = 2.0
"""Points up to which a filled rectangle is a rule."""
SHORT = 5.0
"""Points up to which a line is part of a drawing."""

_BREAK = "\r\n"
_WORD = re.compile(r"\S+")


class PageReader:
    """Reads one page of PDFium's."""

    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = page
        self._text = page.get_textpage()
        self._height = page.get_height() or 1.0
        self._words: list[Word] = []
        # What is turned has no lines from left to right, or not where they are looked for.
        self._is_upright = page.get_rotation() == 0
        _, _, _, top = page.get_bbox() if self._is_upright else (0, 0, 0, self._height)
        self._top = top

    def read(self) -> list[Line]:
        """Return the page's lines; those of a table are one, which has its rows."""
        lines: list[Line] = []
        index = 0
        for written in self._text.get_text_range().split(_BREAK):
            visible = normalise(written).strip()
            if visible:
                first = index + len(written) - len(written.lstrip())
                last = index + len(written.rstrip()) - 1
                if self._is_upright and len(self._words) <= MAX_WORDS:
                    self._words += self._find_words(written, index, len(lines))
                lines.append(self._place(first, last, visible))
            index += len(written) + len(_BREAK)
        tables = find_tables(self._words, list(self._find_rules())) if len(lines) > 1 else []
        self._text.close()
        return _put_in_order(put_in_tables(lines, tables), self._words)

    def is_picture(self, lines: Sequence[Line]) -> bool:
        """Return whether the page shows a picture, and of text no more than a stamp."""
        if sum(len(line.text) for line in lines) > STAMP_CHARS:
            return False
        raw, page = self._raw, self._page.get_width() * self._height
        pictures = self._page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=MAX_NESTING)
        covered = 0.0
        for picture in islice(pictures, MAX_PATHS):
            left, bottom, right, top = picture.get_bounds()
            covered += (right - left) * (top - bottom)
        return bool(covered > PICTURE_SHARE * page)

    def render(self) -> Any:
        """Return the page as a picture: an array of (height, width, 3), in blue, green and red."""
        points = max(self._page.get_width(), self._height, 1.0)
        scale = min(MAX_SIDE / points, DPI / 72)
        return self._page.render(scale=scale, rev_byteorder=False).to_numpy()[:, :, :3]

    def _place(self, first: int, last: int, text: str) -> Line:
        raw = self._raw
        character = self._character(first)
        matrix = raw.FS_MATRIX(a=1, d=1)
        box = self._box(character)
        # Where PDFium has joined a divided word, what is one line to it ends on the next.
        end = self._box(self._character(last))
        raw.FPDFText_GetMatrix(self._text, character, matrix)
        size = raw.FPDFText_GetFontSize(self._text, character) * math.hypot(matrix.c, matrix.d)
        return Line(
            text=text,
            # Half points, so that what was meant to be of one size is.
            size=round(2 * size) / 2,
            top=min(max(1 - box.top / self._height, 0.0), 1.0),
            bottom=min(max(1 - end.bottom / self._height, 0.0), 1.0),
        )

    def _find_words(self, written: str, index: int, line: int) -> Iterator[Word]:
        for match in _WORD.finditer(written):
            first = self._box(self._character(index + match.start()))
            last = self._box(self._character(index + match.end() - 1))
            text = normalise(match.group())
            if text and first.left <= last.right and first.bottom < first.top:
                top, bottom = self._top - first.top, self._top - first.bottom
                yield Word(text, first.left, last.right, top, bottom, line)

    def _character(self, index: int) -> int:
        found: int = self._raw.FPDFText_GetCharIndexFromTextIndex(self._text, index)
        return max(found, 0)

    def _box(self, character: int) -> Any:
        box = self._raw.FS_RECTF()
        self._raw.FPDFText_GetLooseCharBox(self._text, character, box)
        return box

    def _find_rules(self) -> Iterator[Rule]:
        """Yield horizontal and vertical lines: those drawn, edges of boxes, and thin boxes."""
        raw, count = self._raw, 0
        if not self._is_upright:
            return
        for number, path in enumerate(
            self._page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=MAX_NESTING)
        ):
            if number >= MAX_PATHS:
                return
            for rule in self._rules_of(path):
                if max(rule.right - rule.left, rule.bottom - rule.top) > SHORT:
                    yield rule
                    count += 1
                if count >= MAX_RULES:
                    return

    def _rules_of(self, path: Any) -> Iterator[Rule]:
        left, bottom, right, top = path.get_bounds()
        if right - left < THIN or top - bottom < THIN:
            yield Rule(left, right, self._top - top, self._top - bottom)
            return
        points = list(self._points(path))
        for (x, y, _), (next_x, next_y, joins) in pairwise(points):
            if joins and (abs(x - next_x) < THIN or abs(y - next_y) < THIN):
                upper, lower = self._top - max(y, next_y), self._top - min(y, next_y)
                yield Rule(min(x, next_x), max(x, next_x), upper, lower)

    def _points(self, path: Any) -> Iterator[tuple[float, float, bool]]:
        """Yield the corners of a path, and whether a line leads to each."""
        raw, matrix = self._raw, path.get_matrix()
        x, y = ctypes.c_float(), ctypes.c_float()
        start = (0.0, 0.0)
        for number in range(min(raw.FPDFPath_CountSegments(path), MAX_RULES)):
            segment = raw.FPDFPath_GetPathSegment(path, number)
            if not raw.FPDFPathSegment_GetPoint(segment, x, y):
                return
            kind = raw.FPDFPathSegment_GetType(segment)
            place = matrix.on_point(x.value, y.value)
            yield (*place, kind == raw.FPDF_SEGMENT_LINETO)
            if kind == raw.FPDF_SEGMENT_MOVETO:
                start = place
            if raw.FPDFPathSegment_GetClose(segment):
                yield (*start, True)


def _put_in_order(lines: list[Line], words: Sequence[Word]) -> list[Line]:
    """Return the lines from top to bottom, if no two of them stand side by side."""
    if not words or all(line.top >= before.top for before, line in pairwise(lines)):
        return lines
    ordered = sorted(lines, key=lambda line: line.top)
    is_one_column = all(line.top >= before.bottom - 0.3 * (before.bottom - before.top)
                        for before, line in pairwise(ordered))  # fmt: skip
    return ordered if is_one_column else lines
