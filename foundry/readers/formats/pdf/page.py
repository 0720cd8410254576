"""A page of a PDF, read with PDFium: lines with size and position, tables, links, a picture."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.documents.left_out import Omission
from foundry.readers.decoding import is_normalised, normalise
from foundry.readers.formats import pictures
from foundry.readers.formats.pdf.characters import Boxes, Characters
from foundry.readers.formats.pdf.divided import JOINT
from foundry.readers.formats.pdf.drawings import find_pictures, find_rules
from foundry.readers.formats.pdf.forms import draw_annotations, fill_in, find_filled, shrink_stamps
from foundry.readers.formats.pdf.ligatures import UNNAMED
from foundry.readers.formats.pdf.lines import Line, order, put_in_tables, split_lines
from foundry.readers.formats.pdf.links import find_links, write_links
from foundry.readers.formats.pdf.raised import SMALLER, find_raised, write_raised
from foundry.readers.formats.pdf.rows import Word, find_rows
from foundry.readers.formats.pdf.rules import NO_RULES
from foundry.readers.formats.pdf.tables import MAX_WORDS, MIN_WORDS, find_tables
from foundry.readers.formats.pdf.views.undrawn import leave_out_undrawn
from foundry.readers.formats.pdf.views.unseen import are_unseen
from foundry.readers.formats.pdf.views.upright import quarters_of, turn
from foundry.readers.notes import leave_out, note_source

STAMP_CHARS = 60
PICTURE_SHARE = 0.3
"""Minimum share of a page that its pictures cover together if it is read with OCR."""
DPI = 200
"""Resolution at which pages are rendered for OCR."""
SPACE = 0.15
"""Minimum width of a space before or after superscripts, relative to the height of the type."""
ILLEGIBLE_CHARS = 4
"""Shorter words of unidentified glyphs may be mathematical signs."""

Places = NDArray[np.int64]

_BREAK = "\r\n"
# PDFium returns these characters, among others, for glyphs that the font does not identify.
_PERHAPS_UNNAMED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe]")
_WORD = re.compile(r"\S+")
_FIRST = re.compile(r"\n *\S")


class PageReader:
    """Reads one page; its text is closed once its lines have been read.

    The page is turned first if most of its text is not upright. `links` are its links to addresses
    outside the document; `top` and `height` are in points. `with_layers` is whether the document
    may have layers that are off.
    """

    def __init__(self, document: Any, number: int, *, with_layers: bool = False) -> None:
        page = document[number - 1]
        self._number = number
        self._rotation = page.get_rotation()
        self._characters = Characters(page)
        quarters = quarters_of(self._characters)
        self.is_turned = quarters > 0
        if self._rotation or quarters:
            self._characters.close()
            if quarters:
                turn(page, quarters)
            page.set_rotation(0)
            page.close()
            page = document[number - 1]
            self._characters = Characters(page)
        self._rotation -= 90 * quarters
        self.links = list(find_links(page))
        self._filled, self._stamps = find_filled(page, number)
        for filled in self._filled:
            note_source(filled.text)
        if self._stamps:
            self._characters.close()
            draw_annotations(page, self._stamps)
            page.close()
            page = document[number - 1]
            self._characters = Characters(page)
        if leave_out_undrawn(page, number, with_layers=with_layers):
            self._characters.close()
            self._characters = Characters(page)
        self._page = page
        self._illegible = 0
        self._text = self._read_text()
        self._raised = find_raised(self._text, range(len(self._text)), self._characters)
        self.height = page.get_height() or 1.0
        self._is_normal = is_normalised(self._text.replace(_BREAK, "\n"))
        self.top = page.get_bbox()[3]

    def close(self) -> None:
        """Close the page."""
        self._page.close()

    def lines(self) -> list[Line]:
        """Return the page's lines; the lines of a table become one, with its rows."""
        spans, begins, ends = self._find_words()
        starts = [start for start, _ in spans]
        written = list(self._find_written())
        firsts = np.searchsorted(starts, [each.start for each in written])
        lasts = np.searchsorted(starts, [each.stop for each in written]) - 1
        is_new = np.ones(len(written), bool)
        before, after = ends[lasts[:-1]].T, begins[firsts[1:]].T
        is_new[1:] = ~_go_on(before, after)
        is_apart = after[0] - before[2] > SPACE * np.maximum(before[1] - before[3], 0.0)
        apart = {written[number].start for number in (np.flatnonzero(is_apart) + 1).tolist()}
        bounds = np.append(np.flatnonzero(is_new), len(written))
        joined = [written[head:after] for head, after in pairwise(bounds.tolist())]
        firsts, lasts = firsts[bounds[:-1]], lasts[bounds[1:] - 1]
        # The number of an item, or an initial, may be larger than the rest of its line.
        typical = [
            next((word for word in spans[first:last] if word[1] - word[0] > 2), spans[last])
            for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
        ]
        types = self._characters.types([(start + stop) // 2 for start, stop in typical])
        lines = self._lines(joined, apart, types, begins[firsts], ends[lasts])
        shrink_stamps(lines, begins[firsts], self._stamps.values())
        words = self._words(spans, begins, ends, firsts)
        fill_in(lines, words, self._filled, self.top, self.height)
        write_links(lines, words, self.links, self.top)
        rows = find_rows(words)
        is_ruled = len(lines) > 1 and MIN_WORDS <= len(words) <= MAX_WORDS
        rules = find_rules(self._page, self.top) if is_ruled else NO_RULES
        tables = find_tables(words, rules, rows) if len(lines) > 1 else []
        self._characters.close()
        lines = put_in_tables(*split_lines(lines, words, rows, tables))
        return order(lines) if words else lines

    def _find_words(self) -> tuple[list[tuple[int, int]], Boxes, Boxes]:
        """Return the ranges of shown words, and the boxes of their first and last characters."""
        spans = [word.span() for word in _WORD.finditer(self._text)]
        starts = [start for start, _ in spans]
        boxes = self._characters.boxes([*starts, *(stop - 1 for _, stop in spans)])
        begins, ends = boxes.reshape(2, -1, 4)
        is_unseen = are_unseen(self._page, self._characters, starts, begins, ends)
        if not is_unseen.any():
            return spans, begins, ends
        unseen = list(compress(spans, is_unseen.tolist()))
        said = " ".join(self._text[start:stop] for start, stop in unseen)
        leave_out(Omission.HIDDEN, normalise(said), f"page {self._number}")
        self._text = _blank(self._text, unseen)
        is_seen = ~is_unseen
        return list(compress(spans, is_seen.tolist())), begins[is_seen], ends[is_seen]

    def _find_written(self) -> Iterator[range]:
        """Yield the character positions of each line, without surrounding white space."""
        index = 0
        for written in self._text.split(_BREAK):
            begin = index + len(written) - len(written.lstrip())
            end = index + len(written.rstrip())
            index += len(written) + len(_BREAK)
            if begin < end and (self._is_normal or normalise(written).strip()):
                yield range(begin, end)

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
        for word in illegible:
            leave_out(Omission.ILLEGIBLE, word[0], f"page {self._number}")
        self._illegible = len(illegible)
        return _blank(text, [word.span() for word in illegible])

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
        return bool(covered > PICTURE_SHARE * self._page.get_width() * self.height)

    def render(self) -> Any:
        """Render the page as a picture: an array of (height, width, 3), in blue, green and red."""
        points = max(self._page.get_width(), self.height, 1.0)
        scale = min(pictures.MAX_SIDE / points, DPI / 72)
        drawn = self._page.render(scale=scale, rotation=self._rotation % 360, rev_byteorder=False)
        return drawn.to_numpy()[:, :, :3]

    def _lines(
        self,
        joined: Sequence[Sequence[range]],
        apart: Collection[int],
        types: Iterable[tuple[float, float]],
        begins: Boxes,
        ends: Boxes,
    ) -> list[Line]:
        """Return lines, given the ranges of each and the boxes of their first and last characters.

        A space is set before ranges that start at one of the positions in `apart`. `types` has the
        size and angle of each line.
        """
        # PDFium joins hyphenated words, so one line of its text may span two lines of the page.
        sides = np.stack([begins[:, 1], ends[:, 3]])
        tops, bottoms = np.clip((self.top - sides) / self.height, 0.0, 1.0).tolist()
        # Sizes are rounded to half points, so that sizes that were meant to be equal are equal.
        return [
            Line(text, round(2 * size) / 2, top, bottom, (), round(angle) % 360)
            for text, top, bottom, (size, angle) in zip(
                self._join(joined, apart), tops, bottoms, types, strict=True
            )
        ]

    def _join(self, joined: Sequence[Sequence[range]], apart: Collection[int]) -> Iterator[str]:
        """Yield the text of each line."""
        text, places = "", list[int]()
        for stretches in joined:
            if len(stretches) > 1:
                for stretch in stretches:
                    space = " " if stretch is not stretches[0] and stretch.start in apart else ""
                    text += space + self._text[stretch.start : stretch.stop]
                    places += range(stretch.start - len(space), stretch.stop)
                text += _BREAK
                places += range(len(_BREAK))
        raised = find_raised(text, places, self._characters)
        texts = iter(write_raised(text, 0, len(text), raised).split(_BREAK))
        for stretches in joined:
            if len(stretches) > 1:
                yield normalise(next(texts)).strip()
            else:
                yield self._write(stretches[0].start, stretches[0].stop)

    def _write(self, start: int, stop: int) -> str:
        """Return the normalised text of a range."""
        text = write_raised(self._text, start, stop, self._raised)
        return text if self._is_normal else normalise(text).strip()

    def _words(
        self, spans: Sequence[tuple[int, int]], begins: Boxes, ends: Boxes, firsts: Places
    ) -> list[Word]:
        """Return the words of the lines; if they exceed MAX_WORDS, those of the first lines.

        `firsts` are the numbers of the words that begin lines.
        """
        texts = self._text.split()
        starts = [start for start, _ in spans]
        changed = {bisect_right(starts, first) - 1 for first, _, _ in self._raised}
        for number in changed if self._is_normal else range(len(texts)):
            texts[number] = self._write(*spans[number])
        left, top, _, bottom = begins.T
        right = ends[:, 2]
        lines = np.searchsorted(firsts, np.arange(len(spans)), "right") - 1
        places = (left, right, self.top - top, self.top - bottom, lines)
        found = map(Word, texts, *(each.tolist() for each in places))
        is_drawn = (left <= right) & (bottom < top)
        words = [word for word in compress(found, is_drawn.tolist()) if word.text]
        last = words[MAX_WORDS].line if len(words) > MAX_WORDS else len(firsts)
        return [word for word in words if word.line <= last] if last < len(firsts) else words


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with spaces in these ranges."""
    signs = list(text)
    for start, stop in spans:
        signs[start:stop] = " " * (stop - start)
    return "".join(signs)


def _go_on(before: Boxes, after: Boxes) -> NDArray[np.bool_]:
    """Return whether each range continues the line of the one before it, in another type size.

    PDFium ends a line before or after a superscript. `before` has the boxes of the last characters
    of ranges, a column for each, and `after` those of the first characters of the next ranges.
    """
    (_, last_top, right, last_bottom), (left, first_top, _, first_bottom) = before, after
    heights = last_top - last_bottom, first_top - first_bottom
    low, high = np.minimum(*heights), np.maximum(*heights)
    overlap = np.minimum(last_top, first_top) - np.maximum(last_bottom, first_bottom)
    gap = left - right
    is_next = (-0.2 * high < gap) & (gap < 0.5 * high)
    is_raised: NDArray[np.bool_] = (low < SMALLER * high) & (2 * overlap > low) & is_next
    return is_raised
