"""Turns pages of a PDF so that most of their text runs from left to right."""

from typing import Any

import numpy as np

from foundry.readers.formats.pdf.characters import Characters

SAMPLES = 100
"""About this many characters of a page determine its direction."""
MAX_TILT = 5.0
"""Maximum deviation in degrees from a quarter turn."""


def quarters_of(characters: Characters) -> int:
    """Return how many quarter turns clockwise make most of the text upright; 0 if unclear."""
    text = characters.text
    step = max(len(text) // SAMPLES, 1)
    sample = [place for place in range(0, len(text), step) if not text[place].isspace()]
    angles = characters.angles(sample)
    turns = np.rint(angles / 90)
    is_straight = np.abs(angles - 90 * turns) <= MAX_TILT
    counts = np.bincount(turns[is_straight].astype(int) % 4, minlength=4)
    most = int(counts.argmax())
    return most if 2 * counts[most] > len(sample) else 0


def turn(page: Any, quarters: int) -> None:
    """Turn a page's content and its annotations clockwise; the page must be opened again."""
    from pypdfium2 import raw

    left, bottom, right, top = page.get_bbox()
    width, height = right - left, top - bottom
    if quarters % 2:
        width, height = height, width
    moved = {
        1: (0, -1, 1, 0, -bottom, right),
        2: (-1, 0, 0, -1, right, top),
        3: (0, 1, -1, 0, top, -left),
    }[quarters]
    box = raw.FS_RECTF(0, height, width, 0)
    raw.FPDFPage_TransFormWithClip(page, raw.FS_MATRIX(*moved), box)
    raw.FPDFPage_TransformAnnots(page, *moved)
    page.set_mediabox(0, 0, width, height)
    page.set_cropbox(0, 0, width, height)
