"""The interfaces of the parts of an index."""

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
"""The number of a record, and fields to add to it."""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class LaneHits:
    """The best chunks (m,) of one lane, best first.

    `missing_score` is the weight of the query's terms that the best hit lacks, `coverage` the share
    that it has. `score_of` returns the scores (m,) of chunks (m,).
    """

    chunks: Numbers
    scores: Scores
    missing_score: float = 0.0
    coverage: float | None = None
    doubted: bool = False  # Too many of the query's terms are in no chunk.
    score_of: Callable[[Numbers], Scores] | None = None

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def full_score(self) -> float:
        """The score that counts as 1: the highest, plus the weight of missing terms; never 0."""
        return (float(self.scores[0]) if len(self.scores) else 0.0) + self.missing_score or 1.0

    @classmethod
    def none(cls) -> "LaneHits":
        """Return an empty result."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


class About(Protocol):
    """What an index says about itself, beside numbers."""

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
        """Queries that must find a given chunk; see `KnownItem`."""


class Records(Protocol):
    """Records of an index, by number or by id."""

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record made by `make`. Raises IndexUnusableError."""

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Yield the record of each row, with the fields that it adds, reading each lazily."""

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the records whose ids hash like this one, ascending."""


class TermLane(Protocol):
    """The keyword lane of an index. A term counts as often as the query has it."""

    def search(self, terms: Sequence[str], count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest BM25 among those `allowed` (n,) that have a term."""

    def scores(self, terms: Sequence[str], chunks: Numbers) -> Scores:
        """Return the exact scores (m,) of chunks (m,), given in ascending order."""

    def frequency(self, term: str) -> int:
        """Return the number of chunks that have a term."""

    def having(self, term: str) -> NDArray[np.integer]:
        """Return the chunks (m,) that have a term, ascending."""


class VectorLane(Protocol):
    """The dense lane of an index. Queries are unit vectors (d,)."""

    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest cosine, among `allowed` (n,) ones with a vector."""

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) to chunks (m,)."""

    def nearness(self, chunk: int, chunks: Numbers) -> Scores:
        """Return the cosines (m,) of one chunk's vector to those of chunks (m,)."""

    def distance(self, vector: Vector) -> float | None:
        """Return the distance of a query from the chunks as a whole; see `distance_from`."""


class QueryEncoder(Protocol):
    """Embeds queries."""

    def encode(self, text: str) -> Vector | None:
        """Return the unit vector (d,) of a query, or None if it cannot be embedded."""
