"""The characters of a page's text, from PDFium: their boxes and type sizes."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.readers.formats.pdf.pdfium import address_of, function, read_floats

Box = Sequence[float]
"""Left, top, right and bottom, in points from the left and the bottom of the page."""

Boxes = NDArray[np.float64]
"""Boxes (n, 4), a row for each."""


class Characters:
    """A page's text, and properties of its characters by their position in the text."""

    def __init__(self, page: Any) -> None:
        self._opened = page.get_textpage()
        self._page = address_of(self._opened.raw)
        self.text: str = self._opened.get_text_range()
        # PDFium's character numbers are positions in the text only if the lengths are equal.
        is_whole = len(self.text) == self._opened.count_chars()
        self._numbers: Sequence[int] = () if is_whole else self._number_characters()

    def close(self) -> None:
        """Close the text; no more characters can be looked up."""
        self._opened.close()

    def boxes(self, places: Sequence[int]) -> Boxes:
        """Return the boxes of characters, empty for those without a place on the page."""
        found = read_floats("FPDFText_GetLooseCharBox", 4, 1, *self._arguments(places))
        return found.astype(float)

    def sizes(self, places: Sequence[int]) -> list[float]:
        """Return the type sizes of characters, before they are scaled to the page."""
        return list(map(function("FPDFText_GetFontSize"), *self._arguments(places)))

    def types(self, places: Sequence[int]) -> Iterator[tuple[float, float]]:
        """Yield the type size of each character on the page, and its angle in degrees."""
        matrices = read_floats("FPDFText_GetMatrix", 6, 1, *self._arguments(places))
        for size, (a, b, c, d, _, _) in zip(self.sizes(places), matrices.tolist(), strict=True):
            yield size * math.hypot(c, d), math.degrees(math.atan2(b, a))

    def angles(self, places: Sequence[int]) -> NDArray[np.float64]:
        """Return the angles of characters (n,) on the page, in degrees."""
        matrices = read_floats("FPDFText_GetMatrix", 6, 1, *self._arguments(places))
        return np.degrees(np.arctan2(matrices[:, 1], matrices[:, 0]))

    def are_unknown(self, places: Sequence[int]) -> Iterator[int]:
        """Yield for each character 0 if the font identifies it, and another number if not."""
        return map(function("FPDFText_HasUnicodeMapError"), *self._arguments(places))

    def are_invisible(self, places: Sequence[int]) -> NDArray[np.bool_]:
        """Return for each character whether it is drawn neither filled nor stroked."""
        from pypdfium2 import raw

        objects = map(function("FPDFText_GetTextObject"), *self._arguments(places))
        modes = map(function("FPDFTextObj_GetTextRenderMode"), objects)
        found = np.fromiter(modes, np.int64, len(places))
        is_invisible: NDArray[np.bool_] = found == raw.FPDF_TEXTRENDERMODE_INVISIBLE
        return is_invisible

    def is_hyphen(self, place: int) -> bool:
        """Return whether a word was hyphenated at this character."""
        (page,), (number,) = self._arguments([place])
        return bool(function("FPDFText_IsHyphen")(page, number))

    def is_unknown(self, place: int) -> bool:
        """Return whether the font does not identify this character."""
        return any(self.are_unknown([place]))

    def _arguments(self, places: Sequence[int]) -> tuple[Sequence[object], Sequence[int]]:
        numbers = [self._numbers[place] for place in places] if self._numbers else places
        return [self._page] * len(places), numbers

    def _number_characters(self) -> list[int]:
        """Return PDFium's number of each character, which is never less than its position."""
        get_number = function("FPDFText_GetCharIndexFromTextIndex")

        def shift(place: int) -> int:
            number: int = get_number(self._page, place)
            return number - place

        numbers: list[int] = []
        while (place := len(numbers)) < len(self.text):
            ahead = shift(place)
            end = bisect_right(range(len(self.text)), ahead, lo=place, key=shift)
            numbers += range(place + ahead, end + ahead)
        return numbers
