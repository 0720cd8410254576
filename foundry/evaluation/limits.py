"""Compares an evaluation with an earlier one, and reports metrics that are worse."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foundry.config.named_files import read_named
from foundry.errors import FoundryError
from foundry.evaluation.intervals import bootstrap
from foundry.evaluation.results import CONFIGURED, Evaluation
from foundry.runtime.evaluation.metrics import METRICS
from foundry.runtime.evaluation.questions import MAX_FILE_BYTES
from foundry.terminal import count_of


@dataclass(frozen=True, slots=True)
class Comparison:
    """The change of each metric since a baseline, as sentences.

    `failures` are the sentences for metrics that fell by more than the tolerance.
    """

    lines: tuple[str, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier evaluation: its kind, and the metrics of each question, by `_keys`."""

    kind: str
    values: Mapping[tuple[str, int], Mapping[str, float]]


def read_baseline(file: Path) -> Baseline:
    """Read the output of `foundry eval --json`. Raises FoundryError."""
    hint = "name a file that contains the output of foundry eval --json"
    try:
        written = json.loads(read_named(file, MAX_FILE_BYTES, key="--baseline"))
        questions = written["per_question"]
        values = {
            key: {name: float(question["values"][CONFIGURED][name]) for name in METRICS}
            for key, question in zip(_keys(questions), questions, strict=True)
        }
        if not all(0 <= value <= 1 for found in values.values() for value in found.values()):
            raise ValueError("not a metric")
        return Baseline(written["kind"], values)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise FoundryError(f"{file}: is not an evaluation", hint=hint) from None


def compare(baseline: Baseline, now: Evaluation, tolerance: float) -> Comparison:
    """Compare the configured server with a baseline, on their common questions.

    Raises FoundryError if there are none, or if the kinds of queries differ.
    """
    if baseline.kind != now.kind:
        raise FoundryError(
            f"the baseline is of a different kind ({baseline.kind}) from this evaluation"
            f" ({now.kind})",
            hint="make a baseline of the same kind: foundry eval --json > baseline.json",
        )
    before, keys = baseline.values, _keys(now.questions)
    rows = [row for row, key in enumerate(keys) if key in before]
    if not rows:
        raise FoundryError(
            "the baseline has none of these questions",
            hint="make a new one: foundry eval --json > baseline.json",
        )
    old = np.array([[before[keys[row]][name] for name in METRICS] for row in rows])
    # Baselines have six decimal places.
    new = np.column_stack([now.systems[CONFIGURED][name][rows] for name in METRICS]).round(6)
    lines, failures = [], []
    if len(rows) < max(len(before), len(keys)):
        lines.append(f"compared on {count_of(len(rows), 'question')} that the baseline has too")
    changes = zip(METRICS, old.mean(axis=0), new.mean(axis=0), bootstrap(new - old), strict=True)
    for name, was, is_now, found in changes:
        text = f"{name} {was:.4f} -> {is_now:.4f} ({is_now - was:+.4f})"
        if was != is_now:
            text += (
                f", {'within' if found.is_noise else 'beyond'} noise, 95 % interval"
                f" {found.low:+.4f} to {found.high:+.4f}"
            )
        lines.append(text)
        if round(float(was - is_now), 6) > tolerance:
            failures.append(f"{text}; more than the tolerance of {tolerance:g}")
    return Comparison(tuple(lines), tuple(failures))


def _keys(questions: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Return the query of each question, and how often it occurred before."""
    times: Counter[str] = Counter()
    keys = []
    for question in questions:
        query = str(question["query"])
        keys.append((query, times[query]))
        times[query] += 1
    return keys
