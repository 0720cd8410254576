"""Records, postings and vectors of an index, accessed by the numbers of a view."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..index.documents import Documents
from ..index.protocols import (
    LaneHits,
    Made,
    Mask,
    Numbers,
    Posting,
    Records,
    Row,
    Scores,
    Vector,
    VectorLane,
)
from ..index.reader import OpenedIndex
from .filters import FilterColumns, Filters
from .keyword_lane import KeywordLane, PostingsLane

HIDDEN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Some chunks (n,) and documents (m,) of an index, by number, ascending.

    `chunk_places` and `document_places` map numbers of the index to those of the view, or to
    HIDDEN.
    """

    chunks: NDArray[np.uint32]
    documents: NDArray[np.uint32]
    chunk_places: NDArray[np.int32]
    document_places: NDArray[np.int32]

    @classmethod
    def of(cls, index: OpenedIndex, filters: Filters | None) -> Self:
        """Select the documents that pass filters, with all their chunks; None selects nothing."""
        chunks = np.zeros(index.chunk_count, dtype=np.bool_)
        if filters is not None:
            selected = index.part(FilterColumns.open).select(filters)
            chunks = ~chunks if selected is None else selected
        firsts = index.part(Documents.open).first_chunks[:-1].astype(np.int64)
        documents = chunks[firsts]
        return cls(_numbers(chunks), _numbers(documents), _places(chunks), _places(documents))


def _numbers(seen: Mask) -> NDArray[np.uint32]:
    return np.flatnonzero(seen).astype(np.uint32)


def _places(seen: Mask) -> NDArray[np.int32]:
    places = np.cumsum(seen, dtype=np.int32) - 1
    places[~seen] = HIDDEN
    return places


@dataclass(frozen=True, slots=True, eq=False)
class VisibleRecords:
    """The records of a view's m documents or chunks; see `Records`."""

    whole: Records
    visible: NDArray[np.uint32]
    places: NDArray[np.int32]

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a visible record made by `make`. Raises IndexUnusableError."""
        return self.whole.read(int(self.visible[number]), make, **more)

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Lazily yield the record of each row, merged with the row's extra fields."""
        return self.whole.each(make, ((int(self.visible[number]), more) for number, more in rows))

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the visible records whose id has the same hash."""
        places: list[int] = self.places[self.whole.numbers(identifier)].tolist()
        return [place for place in places if place != HIDDEN]


@dataclass(frozen=True, slots=True, eq=False)
class VisibleTerms(PostingsLane):
    """The keyword lane of a view: the postings of `whole`, with chunks mapped by `places` (n,)."""

    whole: KeywordLane
    places: NDArray[np.int32]
    chunk_count: int

    @classmethod
    def of(cls, index: OpenedIndex, selection: Selection, **more: Any) -> Self:
        """Return the keyword lane of the selected chunks."""
        lane = index.keyword_lane
        assert isinstance(lane, KeywordLane)
        return cls(lane, selection.chunk_places, len(selection.chunks), **more)

    def postings(self, terms: Sequence[str]) -> Iterator[Posting]:
        """Yield, for each distinct term in a visible chunk, these chunks and their impacts."""
        for chunks, impacts in self.whole.postings(terms):
            places = self.places.take(chunks)
            seen = places != HIDDEN
            if seen.any():
                yield places[seen].view(np.uint32), impacts[seen]

    def frequency(self, term: str) -> int:
        """Return the number of visible chunks that contain a term."""
        start, end = self.whole.find(term)
        return int(np.count_nonzero(self.places.take(self.whole.chunks[start:end]) != HIDDEN))


@dataclass(frozen=True, slots=True, eq=False)
class VisibleVectors:
    """The dense lane of a view."""

    whole: VectorLane
    selection: Selection

    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` visible chunks of highest cosine; see `VectorLane`."""
        places = self.selection.chunk_places
        visible = places != HIDDEN
        if allowed is not None:
            visible[self.selection.chunks[~allowed]] = False
        hits = self.whole.search(vector, count, visible)
        return replace(hits, chunks=places.take(hits.chunks).astype(np.int64))

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) to chunks (m,)."""
        return self.whole.scores(vector, self._in_whole(chunks))

    def distance(self, vector: Vector) -> float | None:
        """Return the distance of a query from the mean of the whole index; see `distance_from`."""
        return self.whole.distance(vector)

    def _in_whole(self, chunks: Numbers) -> Numbers:
        return self.selection.chunks.take(chunks).astype(np.int64)
