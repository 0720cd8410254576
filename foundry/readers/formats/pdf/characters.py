"""The characters of a page's text, by PDFium: their boxes, and the sizes of their type."""

import ctypes
import math
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from struct import Struct
from typing import Any

from foundry.readers.formats.pdf.pdfium import address_of, function

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in points from the left and the bottom of the page."""

_BOX = Struct("4f")


class Characters:
    """A page's text, and what is known of its characters by their places in it."""

    def __init__(self, page: Any) -> None:
        self._opened = page.get_textpage()
        self._page = address_of(self._opened.raw)
        self.text: str = self._opened.get_text_range()
        # Then each place in the text is that of a character, which need not be asked for.
        self._is_whole = len(self.text) == self._opened.count_chars()
        self._boxes: dict[int, Box] = {}
        self._sizes: dict[int, float] = {}

    def close(self) -> None:
        """Close the text; nothing more can be asked for."""
        self._opened.close()

    def look_up(self, places: Sequence[int]) -> None:
        """Find the boxes of many characters, which is cheaper than one by one."""
        boxes = (ctypes.c_float * (4 * len(places)))()
        first = ctypes.addressof(boxes)
        addresses = range(first, first + ctypes.sizeof(boxes), _BOX.size)
        indexes = map(self._index, places)
        get_box = function("FPDFText_GetLooseCharBox")
        deque(map(get_box, repeat(self._page), indexes, addresses), maxlen=0)
        self._boxes.update(zip(places, _BOX.iter_unpack(boxes), strict=True))

    def box(self, place: int) -> Box:
        """Return the box of a character, empty for one without a place on the page."""
        if place not in self._boxes:
            self.look_up([place])
        return self._boxes[place]

    def size(self, place: int) -> float:
        """Return the size of a character's type, before it is scaled to the page."""
        size = self._sizes.get(place)
        if size is None:
            size = self._ask("FPDFText_GetFontSize", place)
            self._sizes[place] = size
        return size

    def turn(self, place: int) -> tuple[float, float]:
        """Return the size of a character's type on the page, and its angle in degrees."""
        matrix = (ctypes.c_float * 6)(1, 0, 0, 1, 0, 0)
        self._ask("FPDFText_GetMatrix", place, ctypes.addressof(matrix))
        a, b, c, d, _, _ = matrix
        return self.size(place) * math.hypot(c, d), math.degrees(math.atan2(b, a))

    def is_hyphen(self, place: int) -> bool:
        """Return whether a word was divided at a character."""
        return bool(self._ask("FPDFText_IsHyphen", place))

    def is_unknown(self, place: int) -> bool:
        """Return whether the font does not tell which character it is."""
        return bool(self._ask("FPDFText_HasUnicodeMapError", place))

    def _ask(self, name: str, place: int, *more: int) -> Any:
        return function(name)(self._page, self._index(place), *more)

    def _index(self, place: int) -> int:
        if self._is_whole:
            return place
        index: int = function("FPDFText_GetCharIndexFromTextIndex")(self._page, place)
        return max(index, 0)
