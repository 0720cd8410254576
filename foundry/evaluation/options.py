"""Options of an evaluation."""

from dataclasses import dataclass
from pathlib import Path

TOLERANCE = 0.01
"""A mean may be this much below the baseline's."""

SWEEP = tuple(step / 10 for step in range(11))
"""Semantic weights that are tried; the rest goes to keywords."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of an evaluation.

    Asked are `questions`, by default the project's own, or `queries` with `judgements` as in BEIR.
    `baseline` is what an evaluation printed as JSON before; a mean may be below it by `tolerance`.
    `weights` are semantic weights to try for the report; tuning has more of its own.
    """

    questions: Path | None = None
    queries: Path | None = None
    judgements: Path | None = None
    minimums: tuple[str, ...] = ()
    baseline: Path | None = None
    tolerance: float = TOLERANCE
    tune: bool = False
    report: Path | None = None
    weights: tuple[float, ...] = SWEEP
