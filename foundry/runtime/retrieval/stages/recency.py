"""Recency: recently modified chunks score higher, by tiers or by decay.

Ages are whole days, so a query has the same results all day.
"""

import os
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError
from ...index.reader import Index
from ..candidates import Candidates
from ..filters import UNKNOWN_TIME, FilterColumns, parse_time

SECONDS_OF_A_DAY = 86_400


def today() -> int:
    """Return the current day in UTC, or REFERENCE_DATE if set, in days since 1970.

    Raises ConfigurationError for an invalid date.
    """
    written = os.environ.get("REFERENCE_DATE", "").strip()
    if not written:
        return int(time.time()) // SECONDS_OF_A_DAY
    try:
        return parse_time(written) // SECONDS_OF_A_DAY
    except (ValueError, OverflowError):
        raise ConfigurationError(
            f"REFERENCE_DATE must be a date such as 2026-05-31, got {written!r}",
            hint="correct or unset REFERENCE_DATE",
        ) from None


def boost_by_tiers(
    candidates: Candidates,
    index: Index,
    day: int,
    *,
    tiers: Sequence[tuple[float, float]],
) -> Candidates:
    """Multiply scores by the factor of the first tier that includes a chunk's age.

    A tier has a maximum age in days and a factor; ages ascend and factors descend. Older chunks,
    and chunks without a date, have factor 1. `day` is the current day.
    """
    age, known = _ages(candidates, index, day)
    factors = np.ones(len(age))
    for days, factor in reversed(tiers):
        factors[known & (age <= days)] = factor
    return candidates.boosted("recency", factors, tiers[0][1])


def boost_by_decay(
    candidates: Candidates,
    index: Index,
    day: int,
    *,
    half_life_days: float,
    floor: float,
) -> Candidates:
    """Multiply scores by max(floor, 0.5 ** (age / half-life)).

    Chunks without a date count as old: their factor is the floor. `day` is the current day.
    """
    age, known = _ages(candidates, index, day)
    # Factors are rounded, because results of `**` differ between machines.
    decayed = np.array([round(0.5 ** (float(days) / half_life_days), 9) for days in age])
    factors = np.where(known, np.maximum(floor, decayed), floor).astype(np.float64)
    return candidates.boosted("recency", factors)


def _ages(
    candidates: Candidates, index: Index, day: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return ages (m,) in days, and which chunks have a date.

    A date after `day` counts as age 0.
    """
    modified = index.part(FilterColumns.open).modified[candidates.chunks]
    known = modified != UNKNOWN_TIME
    days = np.where(known, modified, 0) // SECONDS_OF_A_DAY
    return np.maximum(0, day - days), known
