"""The candidates made of what lanes find, how the best are chosen, and how stages are timed."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..index.protocols import LaneHits, Numbers, Scores, Vector

SCORE_DIGITS = 6  # Decimal places: callers see the scores that results are ordered by.

P = ParamSpec("P")
Result = TypeVar("Result")

observers: list[Callable[[str, float], None]] = []
"""Told the name of every stage and the seconds it took, in whichever thread it runs."""


def stage(name: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Time a stage of a search: every call of the function that this decorates."""

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        @wraps(function)
        def timed(*arguments: P.args, **options: P.kwargs) -> Result:
            begun = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                for observe in observers:
                    observe(name, time.perf_counter() - begun)

        return timed

    return decorate


def distance_from(mean: Vector, spread: float | None, vector: Vector) -> float | None:
    """Return by how many spreads the unit `vector` (d,) is less like the mean (d,) than chunks are.

    `spread` is the standard deviation of the products of all chunks' vectors with their mean; None
    where the distance tells nothing.
    """
    return spread and max(0.0, float(np.vecdot(mean - vector, mean)) / spread)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks (m,), ascending numbers, with their scores in each lane and overall, all (m,).

    Scores are None for a lane that was not asked, and NaN where a stage brought the chunk in. Ranks
    count from 1, and are 0 outside a lane's hits.
    """

    chunks: Numbers
    semantic: Scores | None  # The cosine, not below 0.
    keyword: Scores | None  # BM25 divided by the query's full score.
    semantic_ranks: Numbers
    keyword_ranks: Numbers
    scores: Scores
    boosts: Mapping[str, Scores] = field(default_factory=dict)  # Factors, by stage.
    rerank: Scores | None = None  # A model's score, NaN where it was not asked.
    coverage: float | None = None  # As in LaneHits.
    doubted: bool = False
    distance: float | None = None  # As VectorLane returns it.

    @classmethod
    def by_keyword(cls, hits: LaneHits) -> "Candidates":
        """Return the keyword lane's hits, scored by keywords alone."""
        order = np.argsort(hits.chunks)
        scores = (hits.scores / hits.full_score).take(order)
        return cls(
            chunks=hits.chunks.take(order),
            semantic=None,
            keyword=scores,
            semantic_ranks=np.zeros(len(order), dtype=np.int64),
            keyword_ranks=order + 1,
            scores=scores.round(SCORE_DIGITS),
            coverage=hits.coverage,
            doubted=hits.doubted,
        )

    def best_places(self) -> Numbers:
        """Return their places, best first, equal scores in the order of the index."""
        return np.argsort(-self.scores, kind="stable")

    def with_scores(self, scores: Scores) -> "Candidates":
        """Return the same candidates under new scores (m,)."""
        return replace(self, scores=np.minimum(np.maximum(scores, 0.0), 1.0).round(SCORE_DIGITS))

    def boosted(self, name: str, factors: Scores, largest: float = 1.0) -> "Candidates":
        """Return them with scores multiplied by `factors` (m,), which responses show by `name`.

        No score may exceed 1, so all are divided by the `largest` possible factor.
        """
        scored = self.with_scores(self.scores * (factors / largest))
        return replace(scored, boosts={**self.boosts, name: factors})


def candidate_count(top_k: int) -> int:
    """Return how many chunks each lane delivers for `top_k` results."""
    return max(100, 2 * top_k)


def best(chunks: NDArray[np.integer], scores: Scores, count: int) -> LaneHits:
    """Choose the `count` highest-scoring chunks, equal scores in the order of chunk numbers."""
    if len(chunks) > 2 * count:  # Fewer are sorted sooner than the best are selected.
        chosen = np.flatnonzero(scores >= threshold(scores, count))
        chunks, scores = chunks.take(chosen), scores.take(chosen)
    order = np.lexsort((chunks, -scores))[:count]
    return LaneHits(chunks.take(order).astype(np.int64, copy=False), scores.take(order))


def threshold(scores: Scores, count: int) -> float:
    """Return a score that `count` of `scores` (m,) reach, and few more unless they are equal."""
    # Several times as fast as np.partition, which is slow where many scores are equal.
    low, high = float(scores.min()), float(scores.max())
    for _ in range(16):
        middle = (low + high) / 2
        reached = np.count_nonzero(scores >= middle)
        if count <= reached <= 2 * count:
            return middle
        low, high = (low, middle) if reached < count else (middle, high)
    return low
