"""Finds words of a PDF page that no viewer shows: outside the page, or drawn invisibly."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.readers.formats.pdf.characters import Boxes, Characters
from foundry.readers.formats.pdf.drawings import find_pictures

_TOLERANCE = 0.5
"""Words further than this from the page, in points, are outside."""


def are_unseen(
    page: Any, characters: Characters, starts: Sequence[int], begins: Boxes, ends: Boxes
) -> NDArray[np.bool_]:
    """Return whether the page does not show each word, by the boxes of its first and last letter.

    Words that are drawn invisibly count as shown if they lie on a picture, which is how recognised
    text is stored, or if no other words are shown.
    """
    boxes = np.stack([begins, ends])
    left, bottom = boxes[:, :, 0].min(axis=0), boxes[:, :, 3].min(axis=0)
    right, top = boxes[:, :, 2].max(axis=0), boxes[:, :, 1].max(axis=0)
    page_left, page_bottom, page_right, page_top = page.get_bbox()
    is_outside: NDArray[np.bool_] = (right < page_left - _TOLERANCE) | (
        left > page_right + _TOLERANCE
    )
    is_outside |= (top < page_bottom - _TOLERANCE) | (bottom > page_top + _TOLERANCE)
    # Characters without a place have an empty box.
    is_outside &= (left < right) | (bottom < top)
    is_invisible = characters.are_invisible(starts)
    if not is_invisible.any():
        return is_outside
    across, down = (left + right) / 2, (bottom + top) / 2
    for x, y, next_x, next_y in find_pictures(page):
        is_invisible &= ~((x < across) & (across < next_x) & (y < down) & (down < next_y))
    is_unseen: NDArray[np.bool_] = is_outside | is_invisible
    return is_outside if is_unseen.all() else is_unseen
