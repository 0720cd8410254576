"""How good one ranking is, against what was to be found.

A ranking is a list of document ids, best first, each once. `grades` say how relevant a document is;
documents that are not in it, or have a grade of 0 or less, are not relevant. A relevant document
that the corpus does not hold counts like one that was not found.

Definitions as in trec_eval: Manning, Raghavan and Schuetze 2008, Introduction to Information
Retrieval, chapter 8; nDCG after Jarvelin and Kekalainen 2002, Cumulated gain-based evaluation of IR
techniques, with the grade itself as the gain and log2(rank + 1) as the discount.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

Grades = Mapping[str, float]
Metric = Callable[[Sequence[str], Grades], float]


def ndcg(ranked: Sequence[str], grades: Grades, *, depth: int) -> float:
    """Discounted cumulative gain of the first `depth`, divided by that of the ideal ranking."""
    gains = (max(0.0, grades.get(document, 0.0)) for document in ranked[:depth])
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    best = _discounted(ideal)
    return _discounted(gains) / best if best else 0.0


def recall(ranked: Sequence[str], grades: Grades, *, depth: int) -> float:
    """The share of the relevant documents that is among the first `depth`."""
    relevant = relevant_documents(grades)
    return len(relevant.intersection(ranked[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades, *, depth: int) -> float:
    """1 / rank of the first relevant document, 0 if none is among the first `depth`."""
    relevant = relevant_documents(grades)
    ranks = (rank for rank, document in enumerate(ranked[:depth], 1) if document in relevant)
    return 1 / next(ranks, math.inf)


def hit(ranked: Sequence[str], grades: Grades, *, depth: int) -> float:
    """1 if any relevant document is among the first `depth`, else 0."""
    return float(not relevant_documents(grades).isdisjoint(ranked[:depth]))


def r_precision(ranked: Sequence[str], grades: Grades) -> float:
    """The share of relevant documents among the first R, where R documents are relevant."""
    return recall(ranked, grades, depth=len(relevant_documents(grades)))


def relevant_documents(grades: Grades) -> set[str]:
    """The documents of a grade above 0."""
    return {document for document, grade in grades.items() if grade > 0}


METRICS: Mapping[str, Metric] = {
    "nDCG@10": partial(ndcg, depth=10),
    "recall@5": partial(recall, depth=5),
    "recall@10": partial(recall, depth=10),
    "recall@100": partial(recall, depth=100),
    "MRR@10": partial(reciprocal_rank, depth=10),
    "hit@1": partial(hit, depth=1),
    "hit@3": partial(hit, depth=3),
    "hit@5": partial(hit, depth=5),
    "R-precision": r_precision,
}
"""Every metric by the name under which it is reported; all are from 0 to 1, more is better."""


def measure(ranked: Sequence[str], grades: Grades) -> dict[str, float]:
    """All metrics of one ranking, by name."""
    return {name: metric(ranked, grades) for name, metric in METRICS.items()}


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
