"""Paired bootstrap intervals, which show how much of a mean is chance.

Questions are resampled with replacement, and the means computed; the interval contains the middle
95 % of them (the percentile method: Efron and Tibshirani 1993, An Introduction to the Bootstrap;
for retrieval: Sakai 2006, Evaluating evaluation metrics based on the bootstrap). The samples are
the same for every column and call, so columns are compared on the same questions, and equal values
have equal intervals.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.runtime.evaluation.metrics import DIGITS, mean

RESAMPLES = 2000
CONFIDENCE = 0.95
SEED = 20070
_BLOCK = 250


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions, and the range of 95 % of the resampled means."""

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """Whether the interval contains 0, so that a difference may be chance."""
        return self.low <= 0 <= self.high


def bootstrap(values: NDArray[np.float64]) -> list[Interval]:
    """Return the interval of each column of `values` (questions, columns)."""
    count = len(values)
    generator = np.random.default_rng(SEED)
    shares = np.full(count, 1 / count)
    means = np.concatenate(
        [
            generator.multinomial(count, shares, size=_BLOCK) @ values / count
            for _ in range(RESAMPLES // _BLOCK)
        ]
    )
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(means, [tail, 100 - tail], axis=0)
    return [
        Interval(mean(column), round(float(a), DIGITS), round(float(b), DIGITS))
        for column, a, b in zip(values.T.tolist(), low, high, strict=True)
    ]
