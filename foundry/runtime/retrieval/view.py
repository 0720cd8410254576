"""A view of an index: the same index, as if it held only the documents that pass some filters.

What lies outside is neither found nor read, counted or named, whatever a stage asks for: its lanes
have no postings and no vectors of other chunks, and a part of the index that cannot be narrowed
down to some documents is not in a view. Scores are those of the whole index.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..index.documents import DocumentRecord, Documents, SourceSummary
from ..index.protocols import LaneHits, Mask, Numbers, Posting, Scores, Vector, VectorLane
from ..index.reader import Index, Made, Part, RecordLines
from .filters import (
    UNKNOWN_TIME,
    FilterColumns,
    Filters,
    ValueTable,
    encode_value,
)
from .keyword_lane import KeywordLane


def view_of(index: Index, filters: Filters | None) -> Index:
    """Return what an index has that passes filters; with None, a view of nothing.

    Raises InvalidRequestError for filters that the index does not have.
    """
    chunks = np.zeros(index.chunk_count, dtype=np.bool_)
    if filters is not None:
        selected = index.part(FilterColumns).select(filters)
        chunks = ~chunks if selected is None else selected
    return _View(index, chunks)


@runtime_checkable
class Divisible(Protocol):
    """A part of an index that has a part for some of its documents."""

    def within(self, documents: Mask) -> Self:
        """Return the same as if the index held only these documents (m,)."""


class _View(Index):
    def __init__(self, index: Index, chunks: Mask) -> None:
        self.__dict__.update(vars(index))
        # The files hold all documents.
        del self.layout, self._files
        self._whole = index
        firsts = index.part(Documents).first_chunks
        # Filters are about documents: all chunks of one pass, or none.
        self._documents = documents = chunks[firsts[:-1].astype(np.int64)]
        columns = _VisibleColumns(index.part(FilterColumns), chunks, documents)
        self.chunk_lines = _VisibleRecords(index.chunk_lines, chunks)
        self.document_count = int(np.count_nonzero(documents))
        self.chunk_count = int(np.count_nonzero(chunks))
        self._parts = {
            FilterColumns: columns,
            Documents: _VisibleDocuments(
                index.part(Documents), self.chunk_lines, documents, columns
            ),
        }
        self.manifest = replace(
            index.manifest,
            sources=columns.known_values("source", len(index.manifest.sources)),
            tags=columns.known_values("tags", len(index.manifest.tags)),
            known_items=[],
        )
        assert isinstance(index.keyword_lane, KeywordLane)
        parts = {one.name: getattr(index.keyword_lane, one.name) for one in fields(KeywordLane)}
        self.keyword_lane = VisibleTerms(**parts, visible=chunks)
        if hasattr(index, "dense_lane"):
            self.dense_lane = VisibleVectors(index.dense_lane, chunks)

    def part(self, kind: Callable[[Index], Part]) -> Part:
        if kind not in self._parts:
            whole = self._whole.part(kind)
            if not isinstance(whole, Divisible):
                raise PermissionError(f"{type(whole).__name__} tells of documents outside the view")
            self._parts[kind] = whole.within(self._documents)
        return super().part(kind)


class _VisibleDocuments(Documents):
    def __init__(
        self, whole: Documents, chunks: RecordLines, visible: Mask, columns: "_VisibleColumns"
    ) -> None:
        self.__dict__.update(vars(whole))
        self._chunks, self._columns = chunks, columns
        self._lines = _VisibleRecords(whole._lines, visible)
        self._visible = np.flatnonzero(visible)
        self._is_visible = visible

    def linked_from(self, document: DocumentRecord) -> list[int]:
        return [number for number in super().linked_from(document) if self._is_visible[number]]

    def page(self, offset: int = 0, limit: int = 100) -> Iterator[DocumentRecord]:
        return self.each(self._visible[offset:][:limit].tolist())

    def sources(self) -> list[SourceSummary]:
        return self._columns.count_sources(self.first_chunks[self._visible].astype(np.int64))


class _VisibleRecords(RecordLines):
    def __init__(self, records: RecordLines, visible: Mask) -> None:
        self.__dict__.update(vars(records))
        self._is_visible = visible

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        # Nothing asks for one that it has not found in this view; if something did, it should fail.
        if not self._is_visible[number]:
            raise PermissionError(f"record {number} is outside the view")
        return super().read(number, make, **more)

    def numbers(self, identifier: str) -> list[int]:
        return [number for number in super().numbers(identifier) if self._is_visible[number]]


@dataclass(frozen=True, slots=True, eq=False)
class VisibleTerms(KeywordLane):
    """The keyword lane of a view; `visible` (n,) are its chunks."""

    visible: Mask

    def _postings(self, terms: Sequence[str]) -> Iterator[Posting]:
        # All else that the lane tells is made of these.
        for chunks, impacts in KeywordLane._postings(self, terms):
            seen = self.visible.take(chunks)
            if seen.any():
                yield chunks[seen], impacts[seen]

    def frequency(self, term: str) -> int:
        """Return the number of visible chunks that have a term."""
        start, end = self.find(term)
        return int(np.count_nonzero(self.visible[self.chunks[start:end]]))


@dataclass(frozen=True, slots=True, eq=False)
class VisibleVectors:
    """The dense lane of a view; `visible` (n,) are its chunks."""

    lane: VectorLane
    visible: Mask

    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the visible chunks of highest cosine."""
        visible = self.visible if allowed is None else self.visible & allowed
        return self.lane.search(vector, count, visible)

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) to given chunks (m,), 0 to hidden ones."""
        return np.where(self.visible[chunks], self.lane.scores(vector, chunks), 0.0)

    def nearness(self, chunk: int, chunks: Numbers) -> Scores:
        """Return the cosines (m,) of one chunk to given chunks (m,), 0 where one is hidden."""
        seen = self.visible[chunk] & self.visible[chunks]
        return np.where(seen, self.lane.nearness(chunk, chunks), 0.0)

    def distance(self, vector: Vector) -> float | None:
        """Return how far a query is from what all chunks are about."""
        return self.lane.distance(vector)


class _VisibleColumns(FilterColumns):
    def __init__(self, columns: FilterColumns, chunks: Mask, documents: Mask) -> None:
        self.__dict__.update(vars(columns))
        self._visible = chunks
        self.modified = np.where(chunks, columns.modified, UNKNOWN_TIME)
        self._values = _VisibleValues(columns._values, documents)
        numbers = np.unique(self._chunk_sources[chunks])
        self._sources = {n: place for n, place in columns._sources.items() if place in numbers}
        offsets = columns._tag_offsets.astype(np.int64)
        seen = np.concatenate([[0], np.cumsum(chunks[columns._tag_chunks])])
        has = (seen[offsets[1:]] > seen[offsets[:-1]]).tolist()
        self._tags = {tag: place for tag, place in columns._tags.items() if has[place]}

    def count_sources(self, firsts: Numbers) -> list[SourceSummary]:
        """Count the documents, by their first chunks (m,), and the chunks of each source."""
        documents = np.bincount(self._chunk_sources[firsts])
        chunks = np.bincount(self._chunk_sources[self._visible])
        return [
            SourceSummary(name, int(documents[number]), int(chunks[number]))
            for name, number in sorted(self._sources.items())
        ]

    def select(self, filters: Filters | None) -> NDArray[np.bool_]:
        selected = super().select(filters)
        return self._visible if selected is None else self._visible & selected


class _VisibleValues(ValueTable):
    def __init__(self, values: ValueTable, documents: Mask) -> None:
        self.__dict__.update(vars(values))
        self._visible = documents

    # [folders
    def _seen(self, documents: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return documents[self._visible[documents]]

    # ]
    def values_of(self, field: str, most: int) -> list[str]:
        key = encode_value(field, "")
        first, last = self._range(key)
        starts = self._starts[first : last + 1].astype(np.int64)
        listed = self._visible[self._documents[starts[0] : starts[-1]]]
        seen = np.concatenate([[0], np.cumsum(listed)])[starts - starts[0]]
        numbers = first + np.flatnonzero(np.diff(seen))[:most]
        return [self._keys[int(number)].removeprefix(key).decode() for number in numbers]
