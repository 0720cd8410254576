"""Recency by tiers: what was modified lately counts for more, by a few steps."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..candidates import Candidates
from .recency import ages


def boost_recency(
    candidates: Candidates,
    modified: NDArray[np.int64],
    day: int,
    *,
    tiers: Sequence[tuple[float, float]],
) -> Candidates:
    """Multiply scores by the factor of the first tier that a chunk belongs to.

    A tier is an age in days, which belongs to it, and a factor; they grow older and smaller. What
    is older than all of them, or has no time of modification, has factor 1. `modified` (n,) is the
    index's; see `recency` for `day` and `Candidates.boosted` for the scores.
    """
    age, known = ages(modified[candidates.chunks], day)
    factors = np.ones(len(age))
    for days, factor in reversed(tiers):
        factors[known & (age <= days)] = factor
    return candidates.boosted("recency", factors, tiers[0][1])
