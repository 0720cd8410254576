"""Options of an evaluation."""

from dataclasses import dataclass
from pathlib import Path

TOLERANCE = 0.01
"""How far a mean may be below the baseline's."""

SWEEP = tuple(step / 10 for step in range(11))
"""Semantic weights to try; keywords get the rest."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of an evaluation.

    `questions` are asked, by default the project's own, or `queries` with `judgements` in BEIR's
    format. `baseline` is the JSON of an earlier evaluation; a mean may be below it by `tolerance`.
    `weights` are semantic weights to try for the report; tuning tries others too.
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
