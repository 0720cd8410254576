"""The results of an evaluation, and their JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.evaluation.metrics import METRICS, Interval, bootstrap

CONFIGURED = "hybrid"
"""The system that foundry.toml describes; the others are shown beside it."""

Values = Mapping[str, NDArray[np.float64]]
"""Every metric's values (questions,) by its name."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Figures of hybrid search with each semantic weight, the rest going to keywords."""

    weights: tuple[float, ...]
    values: tuple[Values, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation; `systems` maps hybrid, linear, rrf, semantic and keyword to their values.

    Attributes:
        facts: What the server says beside the values: counts, hashes, kind of questions.
        configured: The options under which `hybrid` was measured.
        latency_ms: Median and 95th percentile, by system.
        degraded: Questions answered by keywords for want of a vector, by system.
        questions: Of each question the query, the grades, mode and reason, and the first hits.
    """

    facts: Mapping[str, Any]
    configured: Mapping[str, Any]
    systems: Mapping[str, Values]
    latency_ms: Mapping[str, Mapping[str, float]]
    degraded: Mapping[str, int]
    questions: Sequence[Mapping[str, Any]]
    sweep: Sweep
    intervals: Mapping[str, Mapping[str, Interval]] = field(init=False)
    differences: Mapping[str, Mapping[str, Interval]] = field(init=False)

    def __post_init__(self) -> None:
        own = self.systems[CONFIGURED]
        others = {
            system: {name: values[name] - own[name] for name in METRICS}
            for system, values in self.systems.items()
            if system != CONFIGURED
        }
        object.__setattr__(self, "intervals", _bootstrap_all(self.systems))
        object.__setattr__(self, "differences", _bootstrap_all(others))

    @property
    def kind(self) -> str:
        """`questions` or `known-item`."""
        return str(self.facts["kind"])

    def means(self) -> dict[str, dict[str, float]]:
        """Return the mean of each metric, by system."""
        return {
            system: {name: interval.mean for name, interval in found.items()}
            for system, found in self.intervals.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Everything but the hits."""
        return {
            **self.facts,
            "metrics": self.means(),
            "intervals": {
                system: {name: [found.low, found.high] for name, found in intervals.items()}
                for system, intervals in self.intervals.items()
            },
            "differences": {
                system: {
                    name: {"mean": found.mean, "interval": [found.low, found.high]}
                    for name, found in intervals.items()
                }
                for system, intervals in self.differences.items()
            },
            "configured": dict(self.configured),
            "latency_ms": {name: dict(times) for name, times in self.latency_ms.items()},
            "degraded": dict(self.degraded),
            "weights": [
                {"semantic_weight": weight, "metrics": _means(values)}
                for weight, values in zip(self.sweep.weights, self.sweep.values, strict=True)
            ],
            "per_question": [
                {
                    "query": question["query"],
                    "relevant": question["relevant"],
                    "mode": question["mode"],
                    "reason": question["reason"],
                    "values": {
                        system: {name: round(float(values[name][place]), 6) for name in METRICS}
                        for system, values in self.systems.items()
                    },
                }
                for place, question in enumerate(self.questions)
            ],
        }


def _means(values: Values) -> dict[str, float]:
    return {name: round(float(values[name].mean()), 6) for name in METRICS}


def _bootstrap_all(systems: Mapping[str, Values]) -> dict[str, dict[str, Interval]]:
    if not systems:
        return {}
    columns = np.column_stack([values[name] for values in systems.values() for name in METRICS])
    found = iter(bootstrap(columns))
    return {system: {name: next(found) for name in METRICS} for system in systems}
