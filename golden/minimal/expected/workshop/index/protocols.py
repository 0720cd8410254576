"""Interfaces of the parts of an index."""

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
"""The number of a record, and extra fields for it."""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class LaneHits:
    """The best chunks (m,) of one lane, best first.

    `coverage` is the best hit's share of the weight of the query's terms. `missing_score` is the
    weight of the terms in the query's unknown identifiers. `score_of` returns the scores (m,) of
    chunks (m,).
    """

    chunks: Numbers
    scores: Scores
    missing_score: float = 0.0
    coverage: float | None = None
    doubted: bool = False  # Whether an identifier, or too many terms, occur in no chunk
    score_of: Callable[[Numbers], Scores] | None = None

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def full_score(self) -> float:
        """The score that scales to 1: the highest one plus the weight of missing terms; never 0."""
        return (float(self.scores[0]) if len(self.scores) else 0.0) + self.missing_score or 1.0

    @classmethod
    def none(cls) -> "LaneHits":
        """Return an empty result."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


class IndexMetadata(Protocol):
    """The part of a manifest that a view of an index has too."""

    @property
    def language(self) -> str:
        """Language of the documents."""

    @property
    def dense(self) -> dict[str, Any] | None:
        """How vectors were made, and how queries are embedded; None without vectors."""

    @property
    def sources(self) -> list[str]:
        """Names of sources."""

    @property
    def tags(self) -> list[str]:
        """All tags, sorted."""

    @property
    def known_items(self) -> Sequence[Any]:
        """Queries with the chunk that each must find; see `KnownItem`."""


class Records(Protocol):
    """Records of an index, looked up by number or id."""

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record made by `make`. Raises IndexUnusableError."""

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Lazily yield the record of each row, merged with the row's extra fields."""

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of all records whose id has the same hash, ascending."""


class TermLane(Protocol):
    """The keyword lane of an index. A term that a query repeats counts each time."""

    def search(self, terms: Sequence[str], count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest BM25 that contain a term and are `allowed` (n,)."""

    def scores(self, terms: Sequence[str], chunks: Numbers) -> Scores:
        """Return the exact scores (m,) of chunks (m,), which must be ascending."""

    def frequency(self, term: str) -> int:
        """Return the document frequency of a term: the number of chunks that contain it."""

    def having(self, term: str) -> NDArray[np.integer]:
        """Return the chunks (m,) that contain a term, ascending."""


class VectorLane(Protocol):
    """The dense lane of an index. Queries are unit vectors (d,)."""

    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest cosine that have a vector and are `allowed` (n,)."""

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) between the query and chunks (m,)."""

    def distance(self, vector: Vector) -> float | None:
        """Return the distance of the query from the mean of all chunks; see `distance_from`."""


class QueryEncoder(Protocol):
    """Embeds queries."""

    def encode(self, text: str) -> Vector | None:
        """Return the unit vector (d,) of a query, or None if it cannot be embedded."""
