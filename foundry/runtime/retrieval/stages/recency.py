"""Ages of chunks, in whole days, so that a query has the same answer all day long."""

import os
import time

import numpy as np
from numpy.typing import NDArray

from ...index.errors import ConfigurationError
from ..filters import UNKNOWN_TIME, parse_time

SECONDS_OF_A_DAY = 86_400


def today() -> int:
    """The day that ages are counted from, in days since 1970: that of REFERENCE_DATE, or UTC's.

    Raises ConfigurationError for a REFERENCE_DATE that is no date.
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


def ages(modified: NDArray[np.int64], day: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Ages (m,) in days of times of modification (m,), and for which of them there is a time.

    What was modified later than `day` has age 0.
    """
    known = modified != UNKNOWN_TIME
    days = np.where(known, modified, 0) // SECONDS_OF_A_DAY
    return np.maximum(0, day - days), known
