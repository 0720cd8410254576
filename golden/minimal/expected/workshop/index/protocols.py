"""The interfaces of an index's parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Vector: TypeAlias = NDArray[np.float32]
Posting: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.floating]]
Row: TypeAlias = tuple[int, Mapping[str, Any]]
"""The number of a record, and fields to add to its own."""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class LaneHits:
    """The best chunks of one lane (m,), best first.

    `missing_score` is what the best hit would gain if it had all that was asked for, `coverage` the
    share of the query's terms that it has. `score_of` returns the scores (m,) of chunks (m,).
    """

    chunks: Numbers
    scores: Scores
    missing_score: float = 0.0
    coverage: float | None = None
    doubted: bool = False  # Too much of what was asked for is in no chunk.
    score_of: Callable[[Numbers], Scores] | None = None

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def full_score(self) -> float:
        """The full score, worth 1: the highest plus the weight of missing terms; never 0."""
        return (float(self.scores[0]) if len(self.scores) else 0.0) + self.missing_score or 1.0

    @classmethod
    def none(cls) -> "LaneHits":
        """Return the hits of a lane that found nothing."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


class About(Protocol):
    """What is known of an index, its numbers aside."""

    @property
    def language(self) -> str:
        """That of the documents."""

    @property
    def dense(self) -> dict[str, Any] | None:
        """How the vectors were made, and queries get theirs; None without vectors."""

    @property
    def sources(self) -> list[str]:
        """Their names."""

    @property
    def tags(self) -> list[str]:
        """All tags, sorted."""

    @property
    def known_items(self) -> Sequence[Any]:
        """Queries that must find a chunk; see `KnownItem`."""


class Records(Protocol):
    """Records of an index, found by number or by id."""

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record, made by `make_record`. Raises IndexUnusableError."""

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Yield the record of each row, with the fields that it adds, reading it when due."""

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the records whose ids have the hash of this one, ascending."""


class TermLane(Protocol):
    """The keyword lane of an index. A term that a query has twice counts twice."""

    def search(self, terms: Sequence[str], count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest BM25, of those `allowed` (n,) that have a term."""

    def scores(self, terms: Sequence[str], chunks: Numbers) -> Scores:
        """Return the exact scores (m,) of given chunks (m,), ascending chunk numbers."""

    def frequency(self, term: str) -> int:
        """Return the number of chunks that have a term."""

    def having(self, term: str) -> NDArray[np.integer]:
        """Return the chunks (m,), ascending numbers, that have a term."""


class VectorLane(Protocol):
    """The dense lane of an index. Queries are unit vectors (d,)."""

    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest cosine, of those `allowed` (n,) that have a vector."""

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) to given chunks (m,)."""

    def nearness(self, chunk: int, chunks: Numbers) -> Scores:
        """Return the cosines (m,) of the vector of one chunk to those of given chunks (m,)."""

    def distance(self, vector: Vector) -> float | None:
        """Return how far a query is from what chunks are about; see `distance_from`."""


class QueryEncoder(Protocol):
    """Embeds queries."""

    def encode(self, text: str) -> Vector | None:
        """Return the unit vector (d,) of a query; None if it has none."""
