"""The characters of a page's text, from PDFium: their boxes and type sizes."""

import ctypes
import math
from collections.abc import Iterator, Sequence
from struct import iter_unpack, unpack
from typing import Any

from foundry.readers.formats.pdf.pdfium import address_of, function, read_floats

Box = tuple[float, ...]
"""Left, top, right and bottom, in points from the left and the bottom of the page."""


class Characters:
    """A page's text, and properties of its characters by their position in the text."""

    def __init__(self, page: Any) -> None:
        self._opened = page.get_textpage()
        self._page = address_of(self._opened.raw)
        self.text: str = self._opened.get_text_range()
        # If the lengths are equal, positions in the text are PDFium's character numbers.
        self._is_whole = len(self.text) == self._opened.count_chars()
        self.boxes: dict[int, Box] = {}
        self._sizes: dict[int, float] = {}

    def close(self) -> None:
        """Close the text; no more characters can be looked up."""
        self._opened.close()

    def look_up(self, places: Sequence[int]) -> None:
        """Look up many `boxes` at once, which is faster than one at a time."""
        boxes = read_floats("FPDFText_GetLooseCharBox", 4, *self._arguments(places))
        self.boxes.update(zip(places, iter_unpack("4f", boxes.tobytes()), strict=True))

    def box(self, place: int) -> Box:
        """Return the box of a character, empty for one without a place on the page."""
        box = self.boxes.get(place)
        if box is None:
            written = (ctypes.c_float * 4)()
            get_box = function("FPDFText_GetLooseCharBox")
            get_box(self._page, self._index(place), ctypes.addressof(written))
            box = self.boxes[place] = unpack("4f", written)
        return box

    def size(self, place: int) -> float:
        """Return the type size of a character, before it is scaled to the page."""
        if place not in self._sizes:
            self._sizes[place] = self._ask("FPDFText_GetFontSize", place)
        return self._sizes[place]

    def types(self, places: Sequence[int]) -> Iterator[tuple[float, float]]:
        """Yield the type size of characters on the page, and its angle in degrees."""
        matrices = read_floats("FPDFText_GetMatrix", 6, *self._arguments(places))
        for place, (a, b, c, d, _, _) in zip(places, matrices.tolist(), strict=True):
            yield self.size(place) * math.hypot(c, d), math.degrees(math.atan2(b, a))

    def is_any_unknown(self, places: Sequence[int]) -> bool:
        """Return whether the font does not identify one of these characters."""
        return any(map(function("FPDFText_HasUnicodeMapError"), *self._arguments(places)))

    def is_hyphen(self, place: int) -> bool:
        """Return whether a word was hyphenated at this character."""
        return bool(self._ask("FPDFText_IsHyphen", place))

    def is_unknown(self, place: int) -> bool:
        """Return whether the font does not identify this character."""
        return bool(self._ask("FPDFText_HasUnicodeMapError", place))

    def _ask(self, name: str, place: int) -> Any:
        return function(name)(self._page, self._index(place))

    def _arguments(self, places: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        indexes = places if self._is_whole else list(map(self._index, places))
        return [self._page] * len(places), indexes

    def _index(self, place: int) -> int:
        if self._is_whole:
            return place
        index: int = function("FPDFText_GetCharIndexFromTextIndex")(self._page, place)
        return max(index, 0)
