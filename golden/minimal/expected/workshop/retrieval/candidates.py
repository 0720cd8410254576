"""Candidates: the chunks that a search has found, with every lane's score for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .lanes import LaneHits, TermLane, VectorLane, first_of_equals

SCORE_DIGITS = 6
"""Decimal places of a score: what callers see is also what results are ordered by."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks (m,), ascending numbers, and what the lanes say about them.

    `semantic` is the cosine, not below 0; `keyword` is BM25 divided by the query's full score, see
    `LaneHits`; both in [0, 1], both (m,), None for a lane that was not asked. Ranks count from 1
    within a lane's own list; 0 where the lane did not deliver the chunk. `boosts` are the factors
    (m,) by which stages multiplied scores, 1 for none. A lane score is NaN where a stage brought
    the chunk in, not a lane. `rerank` is what a reranking model gave, NaN where it was not asked
    about the chunk. `keyword_worth` is what the keyword lane's best hit is worth; see `LaneHits`.
    """

    chunks: NDArray[np.int64]
    semantic: NDArray[np.float64] | None
    keyword: NDArray[np.float64] | None
    semantic_ranks: NDArray[np.int64]
    keyword_ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    boosts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    rerank: NDArray[np.float64] | None = None
    keyword_worth: float = 1.0

    def with_scores(self, scores: NDArray[np.float64]) -> "Candidates":
        """Return the same candidates under new scores (m,)."""
        clipped: NDArray[np.float64] = np.clip(scores, 0.0, 1.0)
        return replace(self, scores=clipped.round(SCORE_DIGITS))

    def boosted(
        self, name: str, factors: NDArray[np.float64], largest: float = 1.0
    ) -> "Candidates":
        """Multiply each score by its factor (m,), and divide it by the `largest` possible one.

        The division keeps scores in [0, 1], and the same for a chunk whatever else was found.
        """
        scaled = self.with_scores(self.scores * (factors / largest))
        return replace(scaled, boosts={**self.boosts, name: factors})

    def at(self, places: NDArray[np.int64]) -> "Candidates":
        """Return the candidates at ascending `places` (k,) among these, and no others."""
        return Candidates(
            chunks=self.chunks[places],
            semantic=None if self.semantic is None else self.semantic[places],
            keyword=None if self.keyword is None else self.keyword[places],
            semantic_ranks=self.semantic_ranks[places],
            keyword_ranks=self.keyword_ranks[places],
            scores=self.scores[places],
            boosts={name: factors[places] for name, factors in self.boosts.items()},
            rerank=None if self.rerank is None else self.rerank[places],
            keyword_worth=self.keyword_worth,
        )


def candidate_count(top_k: int) -> int:
    """Return how many chunks each lane delivers for `top_k` results."""
    return max(100, 2 * top_k)


def keyword_candidates(keyword: LaneHits) -> Candidates:
    """Return the keyword lane's hits, scored by keywords alone."""
    chunks, scores, ranks = _ascending(keyword, keyword.scores / keyword.full_score)
    none = np.zeros_like(ranks)
    return Candidates(chunks, None, scores, none, ranks, scores).with_scores(scores)


def semantic_candidates(semantic: LaneHits) -> Candidates:
    """Return the dense lane's hits, scored by cosine alone."""
    chunks, scores, ranks = _ascending(semantic, np.maximum(semantic.scores, 0.0))
    none = np.zeros_like(ranks)
    return Candidates(chunks, scores, None, ranks, none, scores).with_scores(scores)


def complete_lanes(
    keyword_lane: TermLane,
    dense_lane: VectorLane,
    terms: Sequence[str],
    vector: NDArray[np.float32],
    keyword: LaneHits,
    semantic: LaneHits,
) -> Candidates:
    """Join the lanes' hits, with both exact scores for each.

    A chunk's score then never depends on how deep a lane was read. The scores are 0 until fused.
    """
    found = np.sort(np.concatenate([keyword.chunks, semantic.chunks]))
    chunks = found[first_of_equals(found)]
    return Candidates(
        chunks=chunks,
        semantic=np.maximum(dense_lane.scores(vector, chunks), 0.0),
        keyword=keyword_lane.scores(terms, chunks) / keyword.full_score,
        semantic_ranks=_ranks_in(semantic, chunks),
        keyword_ranks=_ranks_in(keyword, chunks),
        scores=np.zeros(len(chunks)),
        keyword_worth=keyword.worth,
    )


def _ascending(
    hits: LaneHits, scores: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the hits' chunks (m,), ascending, with their scores and ranks."""
    order = np.argsort(hits.chunks)
    return hits.chunks[order], scores[order], order + 1


def _ranks_in(hits: LaneHits, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank (m,) of each of `chunks` (m,) among a lane's hits, from 1; 0 where it is
    none."""
    ranks = np.zeros(len(chunks), dtype=np.int64)
    ranks[np.searchsorted(chunks, hits.chunks)] = np.arange(1, len(hits) + 1)
    return ranks
