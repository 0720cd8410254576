"""Says what lanes are asked and deliver, and chooses the best chunks of one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

HALVINGS = 16
"""Of the range of scores, until few enough of them are left to be sorted."""


@dataclass(frozen=True, slots=True)
class LaneHits:
    """The best chunks of one lane: numbers (m,) and scores (m,), best first.

    `missing_score` is what the best hit lacks to be all that was asked for.
    """

    chunks: NDArray[np.int64]
    scores: NDArray[np.float64]
    missing_score: float = 0.0

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def full_score(self) -> float:
        """The score that is worth 1: the lane's highest, and what is missing; never 0."""
        return (float(self.scores[0]) if len(self.scores) else 0.0) + self.missing_score or 1.0

    @property
    def worth(self) -> float:
        """What the best hit is worth, from 0 to 1: 1 if nothing is missing."""
        return float(self.scores[0]) / self.full_score if len(self.scores) else 0.0

    @classmethod
    def none(cls) -> "LaneHits":
        """Return the hits of a lane that found nothing."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


class TermLane(Protocol):
    """The keyword lane of an index. A term that stands in a query twice counts twice."""

    def search(
        self, terms: Iterable[str], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """Find the `count` chunks of highest BM25, of those `allowed` (n,) that have a term."""

    def scores(self, terms: Iterable[str], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact scores (m,) of given chunks (m,), ascending chunk numbers."""

    def frequency(self, term: str) -> int:
        """Return the number of chunks that have a term."""


class VectorLane(Protocol):
    """The dense lane of an index. Queries are unit vectors (d,)."""

    def search(
        self, vector: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """Find the `count` chunks of highest cosine, of those `allowed` (n,) that have a vector."""

    def scores(self, vector: NDArray[np.float32], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosines (m,) to given chunks (m,)."""

    def nearness(self, chunk: int, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cosines (m,) of the vector of one chunk to those of given chunks (m,)."""


class QueryEncoder(Protocol):
    """Embeds queries."""

    def encode(self, text: str) -> NDArray[np.float32] | None:
        """Return the unit vector (d,) of a query; None if it has none."""


def best(
    chunks: NDArray[np.integer],
    scores: NDArray[np.float64],
    count: int,
    *,
    repeated: int = 1,
) -> LaneHits:
    """Choose the `count` highest-scoring chunks, equal scores in the order of chunk numbers.

    A chunk may stand in `chunks` up to `repeated` times, always with the same score.
    """
    wanted = count * repeated
    if len(chunks) > wanted:
        chosen = scores >= _threshold(scores, wanted)
        chunks, scores = chunks[chosen], scores[chosen]
    order = np.lexsort((chunks, -scores))
    chunks, scores = chunks[order], scores[order]
    if repeated > 1:
        # A chunk's places are side by side, since its score is the same in all of them.
        is_first = first_of_equals(chunks)
        chunks, scores = chunks[is_first], scores[is_first]
    return LaneHits(chunks[:count].astype(np.int64), scores[:count])


def first_of_equals(numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Mark the first of each run of equal `numbers` (m,)."""
    is_first = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return is_first


def _threshold(scores: NDArray[np.float64], count: int) -> float:
    """A score that `count` of `scores` (m,) reach, and not many more unless they are nearly equal.

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
