"""The metrics of an evaluation: those that a server's own `eval` has, and others at more depths."""

from collections.abc import Sequence

from foundry.runtime import evaluation
from foundry.runtime.evaluation import Grades, recall, reciprocal_rank

METRICS = (
    "nDCG@10",
    "recall@5",
    "recall@10",
    "recall@100",
    "MRR@10",
    "hit@1",
    "hit@3",
    "hit@5",
    "R-precision",
)
"""Names, in the order in which they are shown."""

DIGITS = 6
"""Decimal places of a mean."""


def measure(ranked: Sequence[str], grades: Grades) -> dict[str, float]:
    """Return every metric, 0 to 1, of ids of documents, best first and each once."""
    relevant = [name for name, grade in grades.items() if grade > 0]
    values = {
        **evaluation.measure(ranked, grades),
        "recall@5": recall(ranked, grades, 5),
        "recall@100": recall(ranked, grades, 100),
        "hit@5": float(reciprocal_rank(ranked, grades, 5) > 0),
        "R-precision": recall(ranked, grades, len(relevant)),
    }
    return {name: values[name] for name in METRICS}
