"""Candidates made from lane hits, and selection of the best."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from ..index.protocols import LaneHits, Numbers, Scores, Vector

FIRST_DEPTH = 100  # Number of chunks that each lane returns for the first page of results.
DEPTHS = (1, 2, 10)  # Multiples of FIRST_DEPTH for further pages.
SCORE_DIGITS = 6  # Decimal places of scores: callers see the scores that results are ordered by.


def distance_from(mean: Vector, spread: float | None, vector: Vector) -> float | None:
    """Return the distance of the unit `vector` (d,) from the mean (d,), in standard deviations.

    `spread` is the standard deviation of the dot products of all chunk vectors with their mean.
    Returns None if `spread` is None.
    """
    return spread and max(0.0, float(np.vecdot(mean - vector, mean)) / spread)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks (m,), ascending, with their scores per lane and overall, (m,) each.

    Scores are None for a lane that was not searched, and NaN for chunks that a stage added. Ranks
    count from 1; 0 means that the lane did not find the chunk.
    """

    chunks: Numbers
    semantic: Scores | None  # Cosine, at least 0.
    keyword: Scores | None  # BM25 divided by the query's full score.
    semantic_ranks: Numbers
    keyword_ranks: Numbers
    scores: Scores
    boosts: Mapping[str, Scores] = field(default_factory=dict)  # Factors, by stage.
    rerank: Scores | None = None  # Score of the reranking model; NaN if not scored.
    coverage: float | None = None  # See LaneHits.
    doubted: bool = False
    distance: float | None = None  # See VectorLane.distance.
    first_depth: int = FIRST_DEPTH  # Depth of each lane for the first page.

    @classmethod
    def by_keyword(cls, hits: LaneHits) -> "Candidates":
        """Return candidates scored by the keyword lane alone."""
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

    def with_first_depth(self, first_depth: int) -> "Candidates":
        """Return the candidates, with the depth of the lanes for the first page of results."""
        return replace(self, first_depth=first_depth)

    def best_places(self) -> Numbers:
        """Return positions of candidates, best first, ties in index order.

        Candidates that lanes find only below the first page's depth come after all others,
        regardless of score, so that further pages continue where the first one ends.
        """
        order = np.argsort(-self.scores, kind="stable")
        lanes = self.semantic_ranks, self.keyword_ranks
        if max(ranks.max(initial=0) for ranks in lanes) > self.first_depth:
            order = order[np.argsort(self.levels()[order], kind="stable")]
        return order

    def levels(self) -> Numbers:
        """Return for each candidate (m,) the position in DEPTHS at which a lane first finds it."""
        ranks = np.stack([self.semantic_ranks, self.keyword_ranks])
        # Chunks added by a stage have no rank and belong to the first depth.
        found = ranks.min(axis=0, where=ranks > 0, initial=np.iinfo(np.int64).max)
        found[~ranks.any(axis=0)] = 0
        levels: Numbers = np.searchsorted(self.first_depth * np.array(DEPTHS), found)
        return levels

    def at(self, places: Numbers) -> "Candidates":
        """Return the candidates at positions `places` (k,), ascending."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                values[name] = value[places]
        values["boosts"] = {name: factors[places] for name, factors in self.boosts.items()}
        return Candidates(**values)

    def with_scores(self, scores: Scores) -> "Candidates":
        """Return the candidates with new scores (m,), clamped to [0, 1] and rounded."""
        return replace(self, scores=np.minimum(np.maximum(scores, 0.0), 1.0).round(SCORE_DIGITS))

    def boosted(self, name: str, factors: Scores, largest: float = 1.0) -> "Candidates":
        """Return the candidates with scores multiplied by `factors` (m,), reported as `name`.

        Factors are divided by `largest`, the largest possible one, so that no score exceeds 1.
        """
        scored = self.with_scores(self.scores * (factors / largest))
        return replace(scored, boosts={**self.boosts, name: factors})


def candidate_count(wanted: int) -> int:
    """Return the number of candidates to take from each lane for `wanted` results."""
    depths = (FIRST_DEPTH * times for times in DEPTHS)
    return next((depth for depth in depths if depth >= 2 * wanted), FIRST_DEPTH * DEPTHS[-1])


def best(chunks: NDArray[np.integer], scores: Scores, count: int) -> LaneHits:
    """Return the `count` best of chunks (m,) by their scores (m,), ties by chunk number."""
    if len(chunks) > 2 * count:  # Sorting a few is faster than selecting first.
        chosen = np.flatnonzero(scores >= threshold(scores, count))
        chunks, scores = chunks.take(chosen), scores.take(chosen)
    order = np.lexsort((chunks, -scores))[:count]
    return LaneHits(chunks.take(order).astype(np.int64, copy=False), scores.take(order))


def threshold(scores: Scores, count: int) -> float:
    """Return a score that at least `count` of `scores` (m,) reach, and few more except for ties."""
    # Several times as fast as np.partition, which is slow with many ties.
    low, high = float(scores.min()), float(scores.max())
    for _ in range(16):
        middle = (low + high) / 2
        reached = np.count_nonzero(scores >= middle)
        if count <= reached <= 2 * count:
            return middle
        low, high = (low, middle) if reached < count else (middle, high)
    return low
