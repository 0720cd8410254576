"""Fail an evaluation: a metric below its minimum, or worse than it was."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foundry.errors import FoundryError, RequestError
from foundry.evaluation.metrics import DIGITS, METRICS, bootstrap
from foundry.evaluation.results import CONFIGURED, Evaluation


@dataclass(frozen=True, slots=True)
class Comparison:
    """The change of each metric since a baseline.

    Attributes:
        lines: A sentence for each metric.
        failures: Those of metrics that are worse by more than the tolerance.
    """

    lines: tuple[str, ...]
    failures: tuple[str, ...]


def parse_minimum(written: str) -> tuple[str, float]:
    """Read a limit such as `nDCG@10=0.40`. Raises RequestError."""
    name, separator, number = written.partition("=")
    name = name.strip()
    if name not in METRICS:
        raise RequestError(
            f"{written!r}: there is no metric {name!r}",
            hint=f"write METRIC=VALUE with one of {', '.join(METRICS)}",
        )
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not separator or not 0 <= value <= 1:
        raise RequestError(
            f"{written!r}: the value must be a number from 0 to 1",
            hint=f"write, for example, {name}=0.8",
        )
    return name, value


def find_shortfalls(minimums: Sequence[tuple[str, float]], means: Mapping[str, float]) -> list[str]:
    """Return a line for each mean that is below its limit, as exact as means are rounded."""
    return [
        f"{name} is {means[name]:.4f}, below the minimum of {value:g}"
        for name, value in minimums
        if round(means[name], DIGITS) < value
    ]


def read_baseline(file: Path) -> Mapping[str, Any]:
    """Read what `foundry eval --json` printed before. Raises FoundryError."""
    hint = "name a file that holds the output of foundry eval --json"
    try:
        baseline = json.loads(file.read_bytes())
        means = baseline["metrics"][CONFIGURED]
        usable = all(0 <= float(means[name]) <= 1 for name in METRICS)
    except OSError as error:
        raise FoundryError(f"{file}: cannot be read: {error.strerror}", hint=hint) from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise FoundryError(f"{file}: is not an evaluation", hint=hint) from None
    if not usable or "kind" not in baseline:
        raise FoundryError(f"{file}: is not an evaluation with its means", hint=hint)
    assert isinstance(baseline, dict)
    return baseline


def compare(baseline: Mapping[str, Any], now: Evaluation, tolerance: float) -> Comparison:
    """Compare the configured server with a baseline, on the questions that both were asked.

    Raises FoundryError when the two have no question in common.
    """
    if baseline["kind"] != now.kind:
        raise FoundryError(
            f"the baseline is of another kind ({baseline['kind']}) than this ({now.kind})",
            hint="make a baseline of the same kind: foundry eval --json > baseline.json",
        )
    if "per_question" in baseline:
        return _compare_questions(baseline["per_question"], now, tolerance)
    if baseline.get("questions_sha256") != now.facts["questions_sha256"]:
        raise FoundryError(
            "the baseline is of other questions, and has no figures for each of them",
            hint="make a new one: foundry eval --json > baseline.json",
        )
    before = baseline["metrics"][CONFIGURED]
    changes = [(name, before[name], now.means()[CONFIGURED][name], "") for name in METRICS]
    return _judge(changes, tolerance, ())


def _compare_questions(
    former: Iterable[Mapping[str, Any]], now: Evaluation, tolerance: float
) -> Comparison:
    try:
        before = {
            key: {name: float(entry["values"][CONFIGURED][name]) for name in METRICS}
            for key, entry in _numbered(former)
        }
        if not all(0 <= value <= 1 for values in before.values() for value in values.values()):
            raise ValueError("not a metric")
    except (LookupError, TypeError, ValueError, AttributeError):
        raise FoundryError(
            "the baseline's figures for each question are unusable",
            hint="make a new one: foundry eval --json > baseline.json",
        ) from None
    places = [(key, place) for place, (key, _) in enumerate(_numbered(now.questions))]
    shared = [(key, place) for key, place in places if key in before]
    if not shared:
        raise FoundryError(
            "the baseline has none of these questions",
            hint="make a new one: foundry eval --json > baseline.json",
        )
    rows = [place for _, place in shared]
    old = np.array([[before[key][name] for name in METRICS] for key, _ in shared])
    # Six decimal places are what a baseline has.
    new = np.column_stack([now.systems[CONFIGURED][name][rows] for name in METRICS]).round(6)
    differences = bootstrap(new - old)
    changes = [
        (
            name,
            float(old[:, column].mean()),
            float(new[:, column].mean()),
            f"{'within' if found.is_noise else 'beyond'} noise, 95 % interval"
            f" {found.low:+.4f} to {found.high:+.4f}",
        )
        for column, (name, found) in enumerate(zip(METRICS, differences, strict=True))
    ]
    notes: tuple[str, ...] = ()
    if len(shared) < max(len(before), len(places)):
        notes = (f"compared on the {len(shared):,} questions that the baseline has too",)
    return _judge(changes, tolerance, notes)


def _numbered(
    questions: Iterable[Mapping[str, Any]],
) -> list[tuple[tuple[str, int], Mapping[str, Any]]]:
    """Return each question under its query, and how often the query occurred before."""
    times: Counter[str] = Counter()
    numbered = []
    for question in questions:
        query = str(question["query"])
        numbered.append(((query, times[query]), question))
        times[query] += 1
    return numbered


def _judge(
    changes: Iterable[tuple[str, float, float, str]], tolerance: float, notes: tuple[str, ...]
) -> Comparison:
    lines, failures = list(notes), []
    for name, before, after, noise in changes:
        text = f"{name} {before:.4f} -> {after:.4f} ({after - before:+.4f})"
        text = f"{text}, {noise}" if noise and before != after else text
        lines.append(text)
        if round(before - after, 6) > tolerance:
            failures.append(f"{text}; more than the tolerance of {tolerance:g}")
    return Comparison(tuple(lines), tuple(failures))
