"""Metrics of ranked documents, as in trec_eval, and minimums for their means.

nDCG discounts the grade at rank r by log2(r + 1) and divides by the best possible sum (Järvelin and
Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques).
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from ..errors import ConfigurationError

METRICS = (
    *("nDCG@10", "recall@5", "recall@10", "recall@100", "MRR@10"),
    *("hit@1", "hit@3", "hit@5", "R-precision"),
)
"""Names of metrics, in the order of reports."""

DIGITS = 6
"""Decimal places of a mean."""

Grades = Mapping[str, float]
"""The grade of each judged document, by name; 0 or less means not relevant."""


def measure(ranked: Sequence[str], grades: Grades) -> dict[str, float]:
    """Return every metric, 0 to 1, for ranked, distinct document ids."""
    gains = [max(0.0, grades.get(name, 0.0)) for name in ranked[:10]]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    first = next((rank for rank, gain in enumerate(gains, 1) if gain), math.inf)
    return {
        "nDCG@10": _discount(gains) / (_discount(best[:10]) or 1),
        **{f"recall@{depth}": recall(ranked, grades, depth) for depth in (5, 10, 100)},
        "MRR@10": 1 / first,
        **{f"hit@{depth}": float(first <= depth) for depth in (1, 3, 5)},
        "R-precision": recall(ranked, grades, len(best)),
    }


def recall(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """Return which share of the relevant documents is among the first `depth`; 0 if none exist."""
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:depth])) / (len(relevant) or 1)


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value, rounded to `DIGITS`."""
    return round(math.fsum(values) / len(values), DIGITS)


def parse_minimum(written: str) -> tuple[str, float]:
    """Return the metric and value of a minimum like `nDCG@10=0.40`. Raises ConfigurationError."""
    name, separator, number = written.partition("=")
    name = name.strip()
    if name not in METRICS:
        raise ConfigurationError(
            f"{written!r}: unknown metric {name!r}",
            hint=f"write METRIC=VALUE with one of {', '.join(METRICS)}",
        )
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not separator or not 0 <= value <= 1:
        raise ConfigurationError(
            f"{written!r}: the value must be a number from 0 to 1",
            hint=f"write, for example, {name}=0.8",
        )
    return name, value


def find_shortfalls(minimums: Sequence[tuple[str, float]], means: Mapping[str, float]) -> list[str]:
    """Return a line for each mean below its minimum, compared after rounding."""
    return [
        f"{name} is {means[name]:.4f}, below the minimum of {value:g}"
        for name, value in minimums
        if round(means[name], DIGITS) < value
    ]


def _discount(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
