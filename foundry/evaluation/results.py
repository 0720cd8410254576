"""The results of an evaluation, as JSON and for terminals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.evaluation.intervals import Interval, bootstrap
from foundry.runtime.evaluation.metrics import METRICS, mean
from foundry.runtime.evaluation.questions import describe_missing, describe_skipped
from foundry.terminal import count_of, format_table

CONFIGURED = "hybrid"
"""The system that foundry.toml configures; others are for comparison."""

HEADLINE = "nDCG@10"

Values = Mapping[str, NDArray[np.float64]]
"""The values (questions,) of every metric, by name."""


@dataclass(frozen=True, slots=True)
class Report:
    """Results of the questions for each system, that is, for each way of searching.

    Attributes:
        facts: Counts, hashes and the kind of questions.
        systems: The metrics' values by system.
        latency_ms: The median and 95th percentile by system.
        degraded: The number of answers, by system, that used keywords only for lack of a vector.
        questions: Query, grades, mode, reason and first hits of each question.
        sweep: Values of hybrid search by semantic weight; keywords have the rest of the weight.
    """

    facts: Mapping[str, Any]
    systems: Mapping[str, Values]
    latency_ms: Mapping[str, Mapping[str, float]]
    degraded: Mapping[str, int]
    questions: Sequence[Mapping[str, Any]]
    sweep: Mapping[float, Values]


@dataclass(frozen=True, slots=True)
class Evaluation(Report):
    """An evaluation of the systems hybrid, linear, rrf, semantic and keyword, as far as they exist.

    `configured` are the options of `hybrid`. By system and metric, `intervals` are those of the
    means, and `differences` those of the differences from `hybrid`.
    """

    configured: Mapping[str, Any]
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
        """The kind of queries: `questions` or `known-item`."""
        return str(self.facts["kind"])

    def means(self) -> dict[str, dict[str, float]]:
        """Return the mean of each metric, by system."""
        return {
            system: {name: interval.mean for name, interval in found.items()}
            for system, found in self.intervals.items()
        }

    @property
    def configured_share(self) -> float | None:
        """The semantic share of the configured weights; None with one lane only."""
        semantic = float(self.configured["semantic_weight"])
        keyword = float(self.configured["keyword_weight"])
        return semantic / (semantic + keyword) if len(self.systems) > 2 else None

    def to_json(self) -> dict[str, Any]:
        """Return everything except the hits."""
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
                {
                    "semantic_weight": weight,
                    "metrics": {name: mean(values[name].tolist()) for name in METRICS},
                }
                for weight, values in self.sweep.items()
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

    def describe(self) -> str:
        """Format the numbers of questions and documents, a table of all systems, and notes."""
        counts = (count_of(self.facts[f"{noun}s"], noun) for noun in ("document", "chunk"))
        heading = ", ".join([self.count_questions(), *counts])
        return "\n\n".join([heading, _table(self), "\n".join(self.describe_notes())])

    def count_questions(self) -> str:
        """Describe the number and kind of questions."""
        count = self.facts["questions"]
        if self.kind == "known-item":
            return f"{count:,} known-item {'query' if count == 1 else 'queries'}"
        return count_of(count, "question")

    def describe_notes(self) -> list[str]:
        """Return notes on the certainty of the headline, on other systems, and on omissions."""
        own = self.intervals[CONFIGURED][HEADLINE]
        options = self.configured
        how = "by keywords alone"
        if "semantic" in self.systems:
            how = (
                f"{options['fusion']} fusion, {options['semantic_weight']:g} semantic and"
                f" {options['keyword_weight']:g} keyword"
            )
        notes = [
            f"{CONFIGURED} is the server as configured: {how}",
            f"{HEADLINE} of {CONFIGURED}: {own.mean:.4f},"
            f" 95 % interval {own.low:.4f} to {own.high:.4f}",
        ]
        for system, found in self.differences.items():
            difference = found[HEADLINE]
            if difference.low == difference.high == 0:
                continue
            verdict = "within noise" if difference.is_noise else "beyond noise"
            notes.append(
                f"{system} differs by {difference.mean:+.4f},"
                f" 95 % interval {difference.low:+.4f} to {difference.high:+.4f}: {verdict}"
            )
        if self.kind == "known-item":
            notes.append(
                "known-item queries were made from the corpus: they do not measure real questions"
            )
        if said := describe_skipped(self.facts["skipped"]):
            notes.append(said)
        if said := describe_missing(self.facts["missing"]):
            notes.append(said)
        if unjudged := self.facts["unjudged"]:
            queries = "query" if unjudged == 1 else "queries"
            notes.append(f"{unjudged:,} {queries} left out, without a relevant document")
        notes += [
            f"{count_of(count, 'answer')} of {system} used keywords only, for lack of a vector"
            for system, count in self.degraded.items()
            if count
        ]
        return notes


def _bootstrap_all(systems: Mapping[str, Values]) -> dict[str, dict[str, Interval]]:
    if not systems:
        return {}
    columns = np.column_stack([values[name] for values in systems.values() for name in METRICS])
    found = iter(bootstrap(columns))
    return {system: {name: next(found) for name in METRICS} for system in systems}


def _table(evaluation: Evaluation) -> str:
    rows = [["system", *METRICS, "median ms", "p95 ms"]]
    for system, means in evaluation.means().items():
        times = evaluation.latency_ms[system]
        values = (f"{means[name]:.4f}" for name in METRICS)
        rows.append([system, *values, f"{times['median']:.2f}", f"{times['p95']:.2f}"])
    return format_table(rows)
