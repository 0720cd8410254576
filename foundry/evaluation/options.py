"""Options of an evaluation."""

from dataclasses import dataclass
from pathlib import Path

TOLERANCE = 0.01
"""By how much a mean may be below the baseline's."""

SWEEP = tuple(step / 10 for step in range(11))
"""Semantic weights that are tried; the rest goes to keywords."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of an evaluation.

    Attributes:
        questions: A file of questions; by default the project's own, else known items are asked.
        queries: In place of it, queries as in BEIR,
        judgements: and what is relevant to each.
        minimums: Limits such as `nDCG@10=0.4`.
        baseline: What an evaluation printed as JSON before.
        tolerance: By how much a mean may be below the baseline's.
        tune: Whether to look for better options.
        report: Where the report goes; None for the project's state.
        weights: Semantic weights to try for the report; tuning has more of its own.
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
