"""The characters of a page's text, from PDFium: their boxes and type sizes."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.readers.formats.pdf.pdfium import address_of, function, read_floats

Box = Sequence[float]
"""Left, top, right and bottom, in points from the left and the bottom of the page."""


class Characters:
    """A page's text, and properties of its characters by their position in the text."""

    def __init__(self, page: Any) -> None:
        self._opened = page.get_textpage()
        self._page = address_of(self._opened.raw)
        self.text: str = self._opened.get_text_range()
        # PDFium's character numbers are positions in the text only if the lengths are equal.
        self._is_whole = len(self.text) == self._opened.count_chars()
        self._boxes: dict[int, Box] = {}
        self._sizes: dict[int, float] = {}

    def close(self) -> None:
        """Close the text; no more characters can be looked up."""
        self._opened.close()

    def boxes(self, places: Sequence[int]) -> NDArray[np.float64]:
        """Return the boxes of characters, a row for each, as `box` does."""
        found = read_floats("FPDFText_GetLooseCharBox", 4, 1, *self._arguments(places))
        return found.astype(float)

    def look_up_boxes(self, places: Sequence[int]) -> None:
        """Look up the boxes of many characters, which is faster than one at a time."""
        places = [place for place in places if place not in self._boxes]
        if places:
            self._boxes.update(zip(places, self.boxes(places).tolist(), strict=True))

    def look_up_sizes(self, places: Sequence[int]) -> None:
        """Look up the type sizes of many characters, which is faster than one at a time."""
        places = [place for place in places if place not in self._sizes]
        sizes = map(function("FPDFText_GetFontSize"), *self._arguments(places))
        self._sizes.update(zip(places, sizes, strict=True))

    def box(self, place: int) -> Box:
        """Return the box of a character, empty for one without a place on the page."""
        if place not in self._boxes:
            self.look_up_boxes([place])
        return self._boxes[place]

    def size(self, place: int) -> float:
        """Return the type size of a character, before it is scaled to the page."""
        if place not in self._sizes:
            self.look_up_sizes([place])
        return self._sizes[place]

    def types(self, places: Sequence[int]) -> Iterator[tuple[float, float]]:
        """Yield the type size of characters on the page, and its angle in degrees."""
        self.look_up_sizes(places)
        matrices = read_floats("FPDFText_GetMatrix", 6, 1, *self._arguments(places))
        for place, (a, b, c, d, _, _) in zip(places, matrices.tolist(), strict=True):
            yield self.size(place) * math.hypot(c, d), math.degrees(math.atan2(b, a))

    def are_unknown(self, places: Sequence[int]) -> Iterator[int]:
        """Yield for each character whether the font does not identify it: 0 if it does."""
        return map(function("FPDFText_HasUnicodeMapError"), *self._arguments(places))

    def is_hyphen(self, place: int) -> bool:
        """Return whether a word was hyphenated at this character."""
        return bool(function("FPDFText_IsHyphen")(self._page, self._index(place)))

    def is_unknown(self, place: int) -> bool:
        """Return whether the font does not identify this character."""
        return any(self.are_unknown([place]))

    def _arguments(self, places: Sequence[int]) -> tuple[Sequence[object], Sequence[int]]:
        indexes = places if self._is_whole else list(map(self._index, places))
        return [self._page] * len(places), indexes

    def _index(self, place: int) -> int:
        if self._is_whole:
            return place
        index: int = function("FPDFText_GetCharIndexFromTextIndex")(self._page, place)
        return max(index, 0)
