"""Recency by decay: scores halve with age, down to a floor."""

import numpy as np
from numpy.typing import NDArray

from ..candidates import Candidates
from .recency import ages


def boost_recency(
    candidates: Candidates,
    modified: NDArray[np.int64],
    day: int,
    *,
    half_life_days: float,
    floor: float,
) -> Candidates:
    """Multiply scores by max(floor, 0.5 ** (age / half-life)).

    What has no time of modification counts as old: its factor is the floor. `modified` (n,) is the
    index's; see `recency` for `day`.
    """
    age, known = ages(modified[candidates.chunks], day)
    # Rounded, since powers need not come out alike on every machine.
    decayed = np.array([round(0.5 ** (float(days) / half_life_days), 9) for days in age])
    factors = np.where(known, np.maximum(floor, decayed), floor).astype(np.float64)
    return candidates.boosted("recency", factors)
