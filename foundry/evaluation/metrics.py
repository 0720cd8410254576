"""Metrics of an evaluation, and how much of each is chance: paired bootstrap intervals.

Questions are drawn again and again with replacement, as many as there are, and the means taken; the
interval holds the middle 95 % of them (the percentile method: Efron and Tibshirani 1993, An
Introduction to the Bootstrap; for retrieval: Sakai 2006, Evaluating evaluation metrics based on the
bootstrap). The draws are the same for every column and every call, so columns are compared on the
same questions, and the same values give the same interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.runtime import evaluation
from foundry.runtime.evaluation import Grades

METRICS = tuple(
    "nDCG@10 recall@5 recall@10 recall@100 MRR@10 hit@1 hit@3 hit@5 R-precision".split()
)
"""Names, in the order in which they are shown."""

DIGITS = 6
"""Decimal places of a mean."""

RESAMPLES = 2000
CONFIDENCE = 0.95
SEED = 20070
_BLOCK = 250


def measure(ranked: Sequence[str], grades: Grades) -> dict[str, float]:
    """Return the metrics of a server's own `eval`, and others at more depths, each 0 to 1.

    `ranked` are ids of documents, best first and each once.
    """
    relevant = [name for name, grade in grades.items() if grade > 0]
    values = {
        **evaluation.measure(ranked, grades),
        "recall@5": recall(ranked, grades, 5),
        "recall@100": recall(ranked, grades, 100),
        "hit@5": float(recall(ranked, grades, 5) > 0),
        "R-precision": recall(ranked, grades, len(relevant)),
    }
    return {name: values[name] for name in METRICS}


def recall(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the share of the relevant documents that is among the first `depth`."""
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:depth])) / (len(relevant) or 1)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions, and where 95 % of the resampled means lie."""

    mean: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        """True if the mean, of a difference, might as well be 0."""
        return self.low <= 0 <= self.high


def bootstrap(values: NDArray[np.float64]) -> list[Interval]:
    """Return the interval of each column of `values` (one question or more, columns)."""
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
        Interval(round(float(m), 6), round(float(a), 6), round(float(b), 6))
        for m, a, b in zip(values.mean(axis=0), low, high, strict=True)
    ]
