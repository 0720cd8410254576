"""A page of a PDF, read with PDFium: lines with size and position, tables, links, a picture."""

import ctypes
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress, pairwise
from typing import Any

import numpy as np

from foundry.documents.left_out import Omission
from foundry.readers.decoding import is_normalised, normalise
from foundry.readers.formats import pictures
from foundry.readers.formats.pdf.characters import Characters
from foundry.readers.formats.pdf.drawings import find_pictures, find_rules
from foundry.readers.formats.pdf.forms import Filled, find_filled
from foundry.readers.formats.pdf.layout import JOINT, Line, order, put_in_tables, split_lines
from foundry.readers.formats.pdf.ligatures import UNNAMED
from foundry.readers.formats.pdf.raised import SMALLER, find_raised, write_raised
from foundry.readers.formats.pdf.rows import Word, find_rows
from foundry.readers.formats.pdf.tables import MAX_WORDS, MIN_WORDS, NO_RULES, find_tables
from foundry.readers.notes import leave_out, note_source

MAX_LINKS_OF_PAGE = 1_000
MAX_URL_BYTES = 2_000
STAMP_CHARS = 60
PICTURE_SHARE = 0.3
"""Minimum share of a page that a picture must cover to be read with OCR."""
DPI = 200
"""Resolution at which pages are rendered for OCR."""
SPACE = 0.15
"""Minimum width of a space before or after superscripts, relative to the height of the type."""
ELSEWHERE = 1_000.0
"""Penalty in points for a label on the side of a field where labels are unusual."""
ILLEGIBLE_CHARS = 4
"""Shorter words of unidentified glyphs may be mathematical signs."""

_BREAK = "\r\n"
# PDFium returns these characters, among others, for glyphs that the font does not identify.
_PERHAPS_UNNAMED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe]")
_WORD = re.compile(r"\S+")
_FIRST = re.compile(r"\n *\S")


class PageReader:
    """Reads one page; its text is closed once its lines have been read."""

    def __init__(self, page: Any, number: int) -> None:
        self._page = page
        self._number = number
        self._illegible = 0
        self._characters = Characters(page)
        self._text = self._read_text()
        self._raised = find_raised(self._text, range(len(self._text)), self._characters)
        self._height = page.get_height() or 1.0
        self._is_normal = is_normalised(self._text.replace(_BREAK, "\n"))
        # Rotated text has no lines from left to right, or not where they are expected.
        self._is_upright = page.get_rotation() == 0
        self._top = page.get_bbox()[3] if self._is_upright else self._height

    def lines(self) -> list[Line]:
        """Return the page's lines; the lines of a table become one, with its rows."""
        written = list(self._find_written())
        self._characters.look_up_boxes([end for each in written for end in (each[0], each[-1])])
        joined = list(self._join_raised(written))
        types = self._characters.types([stretches[0].start for stretches in joined])
        lines = [self._line(each, *kind) for each, kind in zip(joined, types, strict=True)]
        words = self._words(joined) if self._is_upright else []
        self._fill(lines, words)
        rows = find_rows(words)
        is_ruled = self._is_upright and len(lines) > 1 and MIN_WORDS <= len(words) <= MAX_WORDS
        rules = find_rules(self._page, self._top) if is_ruled else NO_RULES
        tables = find_tables(words, rules, rows) if len(lines) > 1 else []
        self._characters.close()
        lines = put_in_tables(*split_lines(lines, words, rows, tables))
        return order(lines) if words else lines

    def _find_written(self) -> Iterator[range]:
        """Yield the character positions of each line, without surrounding white space."""
        index = 0
        for written in self._text.split(_BREAK):
            begin = index + len(written) - len(written.lstrip())
            end = index + len(written.rstrip())
            index += len(written) + len(_BREAK)
            if begin < end and (self._is_normal or normalise(written).strip()):
                yield range(begin, end)

    def _join_raised(self, written: Sequence[range]) -> Iterator[list[range]]:
        """Yield the positions of each line.

        PDFium ends a line before or after a superscript; such a line has several ranges.
        """
        joined = list(written[:1])
        for before, places in pairwise(written):
            if self._is_upright and self._goes_on(before, places):
                joined.append(places)
            else:
                yield joined
                joined = [places]
        if joined:
            yield joined

    def _goes_on(self, before: range, after: range) -> bool:
        """Return whether a range continues the line of another, with larger or smaller print."""
        _, last_top, right, last_bottom = self._characters.box(before[-1])
        left, first_top, _, first_bottom = self._characters.box(after[0])
        low, high = sorted((last_top - last_bottom, first_top - first_bottom))
        if not low < SMALLER * high:
            return False
        overlap = min(last_top, first_top) - max(last_bottom, first_bottom)
        return 2 * overlap > low and -0.2 * high < left - right < 0.5 * high

    def _read_text(self) -> str:
        """Return the page's text, with a placeholder for each ligature that has no characters.

        Some fonts do not identify any glyph: PDFium then returns glyph numbers as characters. Words
        of such glyphs are left out. On pages where fewer than half of the words are affected, short
        ones are kept, since they may be mathematical signs.
        """
        note_source(self._characters.text)
        text = _PERHAPS_UNNAMED.sub(self._mark_unnamed, self._characters.text)
        firsts = [match.end() - 2 for match in _FIRST.finditer(f"\n{text}")]
        if not any(self._characters.are_unknown(firsts)):
            return text
        words = list(_WORD.finditer(text))
        begin_unknown = self._characters.are_unknown([word.start() for word in words])
        illegible = [
            word
            for word in compress(words, begin_unknown)
            if all(self._characters.are_unknown(range(*word.span())))
        ]
        if 2 * len(illegible) < len(words):
            illegible = [word for word in illegible if len(word[0]) >= ILLEGIBLE_CHARS]
        signs = list(text)
        for word in illegible:
            leave_out(Omission.ILLEGIBLE, word[0], f"page {self._number}")
            signs[slice(*word.span())] = " " * len(word[0])
        self._illegible = len(illegible)
        return "".join(signs)

    def _mark_unnamed(self, found: re.Match[str]) -> str:
        if found[0] == JOINT:
            return JOINT if self._characters.is_hyphen(found.start()) else UNNAMED
        return UNNAMED if self._characters.is_unknown(found.start()) else found[0]

    def is_picture(self, lines: Sequence[Line]) -> bool:
        """Return whether the page is a picture, with no more legible text than a stamp."""
        if sum(len(line.text) for line in lines) > STAMP_CHARS:
            return False
        if self._illegible:
            return True
        covered = 0.0
        for left, bottom, right, top in find_pictures(self._page):
            covered += (right - left) * (top - bottom)
        return bool(covered > PICTURE_SHARE * self._page.get_width() * self._height)

    def render(self) -> Any:
        """Render the page as a picture: an array of (height, width, 3), in blue, green and red."""
        points = max(self._page.get_width(), self._height, 1.0)
        scale = min(pictures.MAX_SIDE / points, DPI / 72)
        return self._page.render(scale=scale, rev_byteorder=False).to_numpy()[:, :, :3]

    def links(self, document: Any) -> Iterator[str]:
        """Yield the targets of the page's links that are outside the document."""
        from pypdfium2 import raw

        position, link = ctypes.c_int(0), raw.FPDF_LINK()
        for _ in range(MAX_LINKS_OF_PAGE):
            if not raw.FPDFLink_Enumerate(self._page, position, link):
                return
            action = raw.FPDFLink_GetAction(link)
            size = raw.FPDFAction_GetURIPath(document, action, None, 0)
            if 1 < size <= MAX_URL_BYTES:
                buffer = ctypes.create_string_buffer(size)
                raw.FPDFAction_GetURIPath(document, action, buffer, size)
                yield normalise(buffer.value.decode("utf-8", "replace"))

    def _line(self, stretches: Sequence[range], size: float, angle: float) -> Line:
        # PDFium joins hyphenated words, so one line of its text may span two lines of the page.
        _, top, _, _ = self._characters.box(stretches[0][0])
        _, _, _, bottom = self._characters.box(stretches[-1][-1])
        return Line(
            text=self._join(stretches),
            # Sizes are rounded to half points, so that sizes that were meant to be equal are equal.
            size=round(2 * size) / 2,
            top=min(max(1 - top / self._height, 0.0), 1.0),
            bottom=min(max(1 - bottom / self._height, 0.0), 1.0),
            angle=round(angle) % 360,
        )

    def _join(self, stretches: Sequence[range]) -> str:
        """Return the text of a line's ranges."""
        if len(stretches) == 1:
            return self._write(stretches[0].start, stretches[0].stop)
        text, places = "", list[int]()
        for stretch in stretches:
            if places and self._is_apart(places[-1], stretch.start):
                text, places = text + " ", [*places, stretch.start]
            text += self._text[stretch.start : stretch.stop]
            places += stretch
        raised = find_raised(text, places, self._characters)
        return normalise(write_raised(text, 0, len(text), raised)).strip()

    def _write(self, start: int, stop: int) -> str:
        """Return the normalised text of a range."""
        text = write_raised(self._text, start, stop, self._raised)
        return text if self._is_normal else normalise(text).strip()

    def _is_apart(self, before: int, after: int) -> bool:
        _, top, right, bottom = self._characters.box(before)
        left, _, _, _ = self._characters.box(after)
        return left - right > SPACE * max(top - bottom, 0.0)

    def _words(self, joined: Sequence[Sequence[range]]) -> list[Word]:
        """Return the words of the lines; at more than MAX_WORDS, only the first lines."""
        spans = [word.span() for word in _WORD.finditer(self._text)]
        starts = [start for start, _ in spans]
        boxes = self._characters.boxes([*starts, *(end - 1 for _, end in spans)])
        (left, top, _, bottom), (_, _, right, _) = boxes.reshape(2, -1, 4).transpose(0, 2, 1)
        lines = np.searchsorted([each[0].start for each in joined], starts, "right") - 1
        texts = _WORD.findall(self._text)
        changed = {bisect_right(starts, first) - 1 for first, _, _ in self._raised}
        for number in changed if self._is_normal else range(len(texts)):
            texts[number] = self._write(*spans[number])
        places = (left, right, self._top - top, self._top - bottom, lines)
        found = zip(texts, *(each.tolist() for each in places), strict=True)
        is_drawn = (left <= right) & (bottom < top)
        words = [Word(*each) for each in compress(found, is_drawn.tolist()) if each[0]]
        last = words[MAX_WORDS].line if len(words) > MAX_WORDS else len(joined)
        return [word for word in words if word.line <= last] if last < len(joined) else words

    def _fill(self, lines: list[Line], words: list[Word]) -> None:
        """Insert the values of the page's fields next to their labels."""
        shift = self._top - self._height
        for filled in find_filled(self._page, self._number):
            note_source(filled.text)
            top, bottom = self._top - filled.top, self._top - filled.bottom
            middle = (top + bottom) / 2
            beside = [word for word in words if word.top < middle < word.bottom]
            near = min(beside, key=lambda word: _distance(word, filled), default=None)
            if near is None:
                words.append(Word(filled.text, filled.left, filled.right, top, bottom, len(lines)))
                size = lines[-1].size if lines else bottom - top
                top, bottom = ((each - shift) / self._height for each in (top, bottom))
                lines.append(Line(filled.text, size, max(top, 0.0), min(bottom, 1.0)))
                continue
            if filled.is_box and 0 <= near.left - filled.right < near.bottom - near.top:
                # In a table, a field's label must be in the same cell as the field.
                words.remove(near)
                words.append(replace(near, text=f"{filled.text} {near.text}", left=filled.left))
            else:
                left, right = filled.left, filled.right
                words.append(Word(filled.text, left, right, top, bottom, near.line))
            members = sorted((w for w in words if w.line == near.line), key=lambda w: w.left)
            text = " ".join(member.text for member in members)
            lines[near.line] = replace(lines[near.line], text=text)


def _distance(word: Word, filled: Filled) -> float:
    """Return a word's distance from a field; labels are left of fields, but right of checkboxes."""
    after, before = word.left - filled.right, filled.left - word.right
    is_behind = after >= before
    return max(after, before) + (ELSEWHERE if is_behind != filled.is_box else 0.0)
