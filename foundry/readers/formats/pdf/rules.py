"""Ruled lines of a PDF page, in groups that touch."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

MIN_RULES = 3
"""Minimum number of lines of a grid, in each direction."""
NEAR = 3.0
"""Lines at most this many points apart are merged, or count as touching."""

Rules = NDArray[np.float64]
"""Horizontal and vertical lines, a row for each: left, right, top, bottom."""

NO_RULES: Rules = np.zeros((0, 4))


def touching(rules: Rules) -> Iterator[tuple[Rules, Rules]]:
    """Yield the vertical and horizontal rules of each group whose rules touch each other."""
    left, right, top, bottom = rules.T
    is_vertical = bottom - top > right - left
    upright, level = np.flatnonzero(is_vertical), np.flatnonzero(~is_vertical)
    if min(len(upright), len(level)) < MIN_RULES:
        return
    x, level_top = left[upright], top[level, None]
    touches = (left[level, None] - NEAR < x) & (x <= right[level, None] + NEAR)
    touches &= (top[upright] - NEAR <= level_top) & (level_top <= bottom[upright] + NEAR)
    rows, columns = touches.any(axis=1), touches.any(axis=0)
    level, upright, touches = level[rows], upright[columns], touches[rows][:, columns]
    if min(touches.shape) < MIN_RULES:
        return
    # Each group: its vertical rules as bits of a number, and the numbers of its horizontal ones.
    groups: list[tuple[int, list[int]]] = []
    for number, row in enumerate(np.packbits(touches, axis=1)):
        touched = bits = int.from_bytes(row.tobytes())
        members, apart = [number], []
        for group in groups:
            if group[0] & touched:
                bits |= group[0]
                members += group[1]
            else:
                apart.append(group)
        groups = [*apart, (bits, members)]
    found = ((upright[touches[members].any(axis=0)], level[members]) for _, members in groups)
    for one, other in sorted(found, key=lambda group: min(each.min() for each in group)):
        if min(len(one), len(other)) >= MIN_RULES:
            yield rules[one], rules[other]
