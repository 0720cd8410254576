"""The best chunks of each lane, and the candidates of a search that they are joined to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Vector: TypeAlias = NDArray[np.float32]

HALVINGS = 16
SCORE_DIGITS = 6
"""Decimal places of a score: what callers see is also what results are ordered by."""


@dataclass(frozen=True, slots=True)
class LaneHits:
    """The best chunks of one lane: numbers (m,) and scores (m,), best first.

    `missing_score` is what the best hit lacks to be all that was asked for. `coverage` is the share
    that it has of the query's terms, from 0 to 1; None for hits that were not found by terms.
    """

    chunks: Numbers
    scores: Scores
    missing_score: float = 0.0
    coverage: float | None = None

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def full_score(self) -> float:
        """The score that is worth 1: the highest one plus what it lacks; never 0."""
        return (float(self.scores[0]) if len(self.scores) else 0.0) + self.missing_score or 1.0

    @property
    def worth(self) -> float:
        """The worth of the best hit, from 0 to 1: 1 if nothing is missing."""
        return float(self.scores[0]) / self.full_score if len(self.scores) else 0.0

    @classmethod
    def none(cls) -> "LaneHits":
        """Return the hits of a lane that found nothing."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


class TermLane(Protocol):
    """The keyword lane of an index. A term that a query has twice counts twice."""

    def search(self, terms: Iterable[str], count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest BM25, of those `allowed` (n,) that have a term."""

    def scores(self, terms: Iterable[str], chunks: Numbers) -> Scores:
        """Return the exact scores (m,) of given chunks (m,), ascending chunk numbers."""

    def frequency(self, term: str) -> int:
        """Return the number of chunks that have a term."""


class VectorLane(Protocol):
    """The dense lane of an index. Queries are unit vectors (d,)."""

    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest cosine, of those `allowed` (n,) that have a vector."""

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) to given chunks (m,)."""

    def nearness(self, chunk: int, chunks: Numbers) -> Scores:
        """Return the cosines (m,) of the vector of one chunk to those of given chunks (m,)."""


class QueryEncoder(Protocol):
    """Embeds queries."""

    def encode(self, text: str) -> Vector | None:
        """Return the unit vector (d,) of a query; None if it has none."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks (m,), ascending numbers, with their scores in each lane and overall, all (m,).

    `semantic` is the cosine, not below 0, and `keyword` is BM25 divided by the full score of the
    query: None for a lane that was not asked, NaN where a stage brought the chunk in. Ranks count
    from 1 in a lane's own hits; 0 where the chunk is not among them. `boosts` are the factors by
    which stages multiplied scores; `rerank` is the score from a reranking model, NaN where it was
    not asked about the chunk. `keyword_worth` is the worth of the keyword lane's best hit, and
    `coverage` its share of the query's terms.
    """

    chunks: Numbers
    semantic: Scores | None
    keyword: Scores | None
    semantic_ranks: Numbers
    keyword_ranks: Numbers
    scores: Scores
    boosts: Mapping[str, Scores] = field(default_factory=dict)
    rerank: Scores | None = None
    keyword_worth: float = 1.0
    coverage: float | None = None

    @classmethod
    def by_keyword(cls, hits: LaneHits) -> "Candidates":
        """Return the keyword lane's hits, scored by keywords alone."""
        order = np.argsort(hits.chunks)
        scores = (hits.scores / hits.full_score)[order]
        found = cls(hits.chunks[order], None, scores, np.zeros_like(order), order + 1, scores)
        return replace(found.with_scores(scores), coverage=hits.coverage)

    @classmethod
    def by_meaning(cls, hits: LaneHits) -> "Candidates":
        """Return the dense lane's hits, scored by cosine alone."""
        order = np.argsort(hits.chunks)
        scores = np.maximum(hits.scores, 0.0)[order]
        found = cls(hits.chunks[order], scores, None, order + 1, np.zeros_like(order), scores)
        return found.with_scores(scores)

    def with_scores(self, scores: Scores) -> "Candidates":
        """Return the same candidates under new scores (m,)."""
        clipped: Scores = np.clip(scores, 0.0, 1.0)
        return replace(self, scores=clipped.round(SCORE_DIGITS))

    def boosted(self, name: str, factors: Scores, largest: float = 1.0) -> "Candidates":
        """Multiply each score by its factor (m,), scaled by the `largest` one that there can be."""
        scaled = self.with_scores(self.scores * (factors / largest))
        return replace(scaled, boosts={**self.boosts, name: factors})

    def at(self, places: Numbers) -> "Candidates":
        """Return the candidates at ascending `places` (k,) among these, and no others."""
        values: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                values[name] = value[places]
        values["boosts"] = {name: factors[places] for name, factors in self.boosts.items()}
        return Candidates(**values)


def candidate_count(top_k: int) -> int:
    """Return how many chunks each lane delivers for `top_k` results."""
    return max(100, 2 * top_k)


def best(chunks: NDArray[np.integer], scores: Scores, count: int, *, repeated: int = 1) -> LaneHits:
    """Choose the `count` highest-scoring chunks, equal scores in the order of chunk numbers.

    `chunks` may have one up to `repeated` times, always with the same score.
    """
    wanted = count * repeated
    if len(chunks) > wanted:
        chosen = scores >= _threshold(scores, wanted)
        chunks, scores = chunks[chosen], scores[chosen]
    order = np.lexsort((chunks, -scores))
    chunks, scores = chunks[order], scores[order]
    if repeated > 1:
        # The same chunk follows itself, since its score is the same each time.
        is_first = _first_of_equals(chunks)
        chunks, scores = chunks[is_first], scores[is_first]
    return LaneHits(chunks[:count].astype(np.int64), scores[:count])


def _threshold(scores: Scores, count: int) -> float:
    """Return a score that `count` of `scores` (m,) reach, and few more unless they are equal.

    Several times as fast as np.partition, which is slow where scores are equal, as they often are.
    """
    low, high = float(scores.min()), float(scores.max())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reached = np.count_nonzero(scores >= middle)
        if reached < count:
            high = middle
        else:
            low = middle
            if reached <= 2 * count:
                break
    return low


def complete_lanes(
    keyword_lane: TermLane,
    dense_lane: VectorLane,
    terms: Sequence[str],
    vector: Vector,
    keyword: LaneHits,
    semantic: LaneHits,
) -> Candidates:
    """Join the lanes' hits, with both exact scores for each; the overall scores are 0 until fused.

    A chunk's score then never depends on how deep a lane was read.
    """
    found = np.sort(np.concatenate([keyword.chunks, semantic.chunks]))
    chunks = found[_first_of_equals(found)]
    return Candidates(
        chunks=chunks,
        semantic=np.maximum(dense_lane.scores(vector, chunks), 0.0),
        keyword=keyword_lane.scores(terms, chunks) / keyword.full_score,
        semantic_ranks=_ranks_in(semantic, chunks),
        keyword_ranks=_ranks_in(keyword, chunks),
        scores=np.zeros(len(chunks)),
        keyword_worth=keyword.worth,
        coverage=keyword.coverage or 0.0,
    )


def _first_of_equals(numbers: NDArray[np.integer]) -> Mask:
    """Mark the first of each run of equal `numbers` (m,)."""
    is_first = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return is_first


def _ranks_in(hits: LaneHits, chunks: Numbers) -> Numbers:
    """Return the rank (m,) of each of `chunks` (m,) among a lane's hits; 0 where it is none."""
    ranks = np.zeros(len(chunks), dtype=np.int64)
    ranks[np.searchsorted(chunks, hits.chunks)] = np.arange(1, len(hits) + 1)
    return ranks
