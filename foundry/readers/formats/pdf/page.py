"""One page of a PDF, by PDFium: lines with their font size and place, tables, links, a picture."""

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from foundry.readers.decoding import normalise
from foundry.readers.formats import pictures
from foundry.readers.formats.pdf.layout import JOINT, Line, order, put_in_tables
from foundry.readers.formats.pdf.ligatures import UNNAMED
from foundry.readers.formats.pdf.tables import MAX_RULES, MAX_WORDS, Rule, Word, find_tables

MAX_LINKS_OF_PAGE = 1_000
MAX_URL_BYTES = 2_000
MAX_PATHS = 10_000
MAX_NESTING = 3
STAMP_CHARS = 60
PICTURE_SHARE = 0.3
"""The least share of a page that a picture must cover to be read as text."""
DPI = 200
"""Resolution at which pages are rendered for text recognition."""
THIN = 2.0
"""Points up to which a filled rectangle is a rule."""
SHORT = 5.0
"""Points up to which a line is part of a drawing."""

_BREAK = "\r\n"
# PDFium gives these, among others, for glyphs of which the font does not tell what they are.
_PERHAPS_UNNAMED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe]")
_WORD = re.compile(r"\S+")


class PageReader:
    """Reads one page; its text is closed once its lines have been read."""

    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = page
        self._text = page.get_textpage()
        self._height = page.get_height() or 1.0
        # What is turned has no lines from left to right, or not where they are looked for.
        self._is_upright = page.get_rotation() == 0
        self._top = page.get_bbox()[3] if self._is_upright else self._height

    def lines(self) -> list[Line]:
        """Return the page's lines; those of a table are one, which has its rows."""
        lines: list[Line] = []
        words: list[Word] = []
        index = 0
        text = _PERHAPS_UNNAMED.sub(self._mark_unnamed, self._text.get_text_range())
        for written in text.split(_BREAK):
            visible = normalise(written).strip()
            if visible:
                first = index + len(written) - len(written.lstrip())
                last = index + len(written.rstrip()) - 1
                if self._is_upright and len(words) <= MAX_WORDS:
                    words += self._words(written, index, len(lines))
                lines.append(self._line(first, last, visible))
            index += len(written) + len(_BREAK)
        tables = find_tables(words, list(self._rules())) if len(lines) > 1 else []
        self._text.close()
        lines = put_in_tables(lines, tables)
        return order(lines) if words else lines

    def _mark_unnamed(self, found: re.Match[str]) -> str:
        index = self._character(found.start())
        if found[0] == JOINT:
            return JOINT if self._raw.FPDFText_IsHyphen(self._text, index) else UNNAMED
        return UNNAMED if self._raw.FPDFText_HasUnicodeMapError(self._text, index) else found[0]

    def is_picture(self, lines: Sequence[Line]) -> bool:
        """Return whether the page shows a picture, and of text no more than a stamp."""
        if sum(len(line.text) for line in lines) > STAMP_CHARS:
            return False
        covered = 0.0
        for picture in self._objects(self._raw.FPDF_PAGEOBJ_IMAGE):
            left, bottom, right, top = picture.get_bounds()
            covered += (right - left) * (top - bottom)
        return bool(covered > PICTURE_SHARE * self._page.get_width() * self._height)

    def render(self) -> Any:
        """Return the page as a picture: an array of (height, width, 3), in blue, green and red."""
        points = max(self._page.get_width(), self._height, 1.0)
        scale = min(pictures.MAX_SIDE / points, DPI / 72)
        return self._page.render(scale=scale, rev_byteorder=False).to_numpy()[:, :, :3]

    def links(self, document: Any) -> Iterator[str]:
        """Yield where the page's links lead, outside the document."""
        raw = self._raw
        position, link = ctypes.c_int(0), raw.FPDF_LINK()
        for _ in range(MAX_LINKS_OF_PAGE):
            if not raw.FPDFLink_Enumerate(self._page, position, link):
                return
            action = raw.FPDFLink_GetAction(link)
            buffer = ctypes.create_string_buffer(MAX_URL_BYTES)
            size = raw.FPDFAction_GetURIPath(document, action, buffer, MAX_URL_BYTES)
            if 1 < size <= MAX_URL_BYTES:
                yield normalise(buffer.value.decode("utf-8", "replace"))

    def _objects(self, kind: int) -> Iterator[Any]:
        return islice(self._page.get_objects(filter=[kind], max_depth=MAX_NESTING), MAX_PATHS)

    def _line(self, first: int, last: int, text: str) -> Line:
        raw = self._raw
        # Where PDFium has joined a divided word, what is one line to it ends on the next.
        box, end = self._box(first), self._box(last)
        matrix, character = raw.FS_MATRIX(a=1, d=1), self._character(first)
        raw.FPDFText_GetMatrix(self._text, character, matrix)
        size = raw.FPDFText_GetFontSize(self._text, character) * math.hypot(matrix.c, matrix.d)
        return Line(
            text=text,
            # Half points, so that what was meant to be of one size is.
            size=round(2 * size) / 2,
            top=min(max(1 - box.top / self._height, 0.0), 1.0),
            bottom=min(max(1 - end.bottom / self._height, 0.0), 1.0),
        )

    def _words(self, written: str, index: int, line: int) -> Iterator[Word]:
        for match in _WORD.finditer(written):
            first = self._box(index + match.start())
            last = self._box(index + match.end() - 1)
            text = normalise(match.group())
            if text and first.left <= last.right and first.bottom < first.top:
                top, bottom = self._top - first.top, self._top - first.bottom
                yield Word(text, first.left, last.right, top, bottom, line)

    def _character(self, index: int) -> int:
        found: int = self._raw.FPDFText_GetCharIndexFromTextIndex(self._text, index)
        return max(found, 0)

    def _box(self, index: int) -> Any:
        box = self._raw.FS_RECTF()
        self._raw.FPDFText_GetLooseCharBox(self._text, self._character(index), box)
        return box

    def _rules(self) -> Iterator[Rule]:
        """Yield horizontal and vertical lines: those drawn, edges of boxes, and thin boxes."""
        paths = self._objects(self._raw.FPDF_PAGEOBJ_PATH) if self._is_upright else ()
        drawn = (rule for path in paths for rule in self._rules_of(path))
        long = (r for r in drawn if max(r.right - r.left, r.bottom - r.top) > SHORT)
        return islice(long, MAX_RULES)

    def _rules_of(self, path: Any) -> Iterator[Rule]:
        left, bottom, right, top = path.get_bounds()
        if right - left < THIN or top - bottom < THIN:
            yield Rule(left, right, self._top - top, self._top - bottom)
            return
        for (x, y, _), (next_x, next_y, joins) in pairwise(self._corners(path)):
            if joins and (abs(x - next_x) < THIN or abs(y - next_y) < THIN):
                upper, lower = self._top - max(y, next_y), self._top - min(y, next_y)
                yield Rule(min(x, next_x), max(x, next_x), upper, lower)

    def _corners(self, path: Any) -> Iterator[tuple[float, float, bool]]:
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
