"""A view of an index: an index of only the documents that pass some filters.

It is made of what may be seen, by the constructors of its parts. Its chunks and documents have
numbers of its own, from 0 on, and its lists, values and counts are of these alone; postings,
vectors and records stay in the index, and are reached through these numbers. A part that cannot be
narrowed down to some documents is not in a view. Scores are those of the whole index.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..index.documents import Documents, SourceSummary
from ..index.protocols import (
    LaneHits,
    Made,
    Mask,
    Numbers,
    Posting,
    Records,
    Row,
    Scores,
    TermLane,
    Vector,
    VectorLane,
)
from ..index.reader import Index, OpenedIndex, Part
from .filters import FilterColumns, Filters, ValueTable
from .keyword_lane import KeywordLane, PostingsLane

HIDDEN = -1
KNOWN_OF_VECTORS = ("model", "query", "background")


def view_of(index: OpenedIndex, filters: Filters | None) -> Index:
    """Return what an index has that passes filters; with None, a view of nothing.

    Raises InvalidRequestError for filters that the index does not have.
    """
    selection = Selection.of(index, filters)
    dense = index.manifest.dense
    return View(
        index,
        selection,
        version=index.version,
        dense=dense and {name: dense[name] for name in KNOWN_OF_VECTORS},
        keyword_lane=VisibleTerms.of(index, selection),
        dense_lane=(
            VisibleVectors(index.dense_lane, selection) if hasattr(index, "dense_lane") else None
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Some chunks (n,) and documents (m,) of an index, by their numbers there, ascending.

    `chunk_places` and `document_places` are the numbers that all have in the view, or HIDDEN.
    """

    chunks: NDArray[np.uint32]
    documents: NDArray[np.uint32]
    chunk_places: NDArray[np.int32]
    document_places: NDArray[np.int32]

    @classmethod
    def of(cls, index: OpenedIndex, filters: Filters | None) -> Self:
        """Select the documents that pass filters, of which all chunks pass, or none."""
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


@runtime_checkable
class Divisible(Protocol):
    """A part of an index that has a part for some of its documents."""

    def within(self, documents: Mask) -> Self:
        """Return the same as if the index held only these documents (m,), numbered from 0 on."""


@dataclass(frozen=True, slots=True)
class _Contents:
    """What is known of a view; see `About`."""

    language: str
    dense: dict[str, Any] | None
    sources: list[str]
    tags: list[str]
    known_items: tuple[()] = ()


class View(Index):
    """Some documents of an index, with the lanes that it is given."""

    def __init__(
        self,
        index: OpenedIndex,
        selection: Selection,
        *,
        version: str,
        dense: dict[str, Any] | None,
        keyword_lane: TermLane,
        dense_lane: VectorLane | None,
    ) -> None:
        """Make the parts that every index has; `dense` is what is told of the vectors."""
        columns = _columns_within(index.part(FilterColumns.open), selection)
        super().__init__(
            version=version,
            manifest=_Contents(
                index.manifest.language, dense, sorted(columns.sources), columns.tags
            ),
            documents=len(selection.documents),
            chunks=len(selection.chunks),
            chunk_lines=VisibleRecords(index.chunk_lines, selection.chunks, selection.chunk_places),
            tokenizer=index.tokenizer,
            keyword_lane=keyword_lane,
            dense_lane=dense_lane,
            encoder=getattr(index, "encoder", None),
        )
        documents = _documents_within(
            index.part(Documents.open), selection, self.chunk_lines, columns
        )
        self._parts = {FilterColumns.open: columns, Documents.open: documents}
        self._divide = partial(_divide, index, selection.document_places != HIDDEN)

    def make_part(self, kind: Callable[[OpenedIndex], Part]) -> Part:
        """Return the part of the visible documents. Raises PermissionError if it has none."""
        part: Part = self._divide(kind)
        return part


def _divide(index: OpenedIndex, documents: Mask, kind: Callable[[OpenedIndex], Any]) -> Any:
    whole = index.part(kind)
    if not isinstance(whole, Divisible):
        raise PermissionError(f"{type(whole).__name__} tells of documents outside the view")
    return whole.within(documents)


@dataclass(frozen=True, slots=True, eq=False)
class VisibleRecords:
    """The records of a view (m,); see `Records`."""

    whole: Records
    visible: NDArray[np.uint32]
    places: NDArray[np.int32]

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record."""
        return self.whole.read(int(self.visible[number]), make, **more)

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Yield the record of each row."""
        return self.whole.each(make, ((int(self.visible[number]), more) for number, more in rows))

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the visible records whose ids have the hash of this one."""
        places: list[int] = self.places[self.whole.numbers(identifier)].tolist()
        return [place for place in places if place != HIDDEN]


@dataclass(frozen=True, slots=True, eq=False)
class VisibleTerms(PostingsLane):
    """The keyword lane of a view: postings of `whole` (n,), by the `places` (n,) of its chunks."""

    whole: KeywordLane
    places: NDArray[np.int32]
    chunk_count: int

    @classmethod
    def of(cls, index: OpenedIndex, selection: Selection, **more: Any) -> Self:
        """Return the lane of the chunks that were selected."""
        lane = index.keyword_lane
        assert isinstance(lane, KeywordLane)
        return cls(lane, selection.chunk_places, len(selection.chunks), **more)

    def postings(self, terms: Sequence[str]) -> Iterator[Posting]:
        """Yield the visible chunks of each term, and what it adds to the score of each."""
        for chunks, impacts in self.whole.postings(terms):
            places = self.places.take(chunks)
            seen = places != HIDDEN
            if seen.any():
                yield places[seen].view(np.uint32), impacts[seen]

    def frequency(self, term: str) -> int:
        """Return the number of visible chunks that have a term."""
        start, end = self.whole.find(term)
        return int(np.count_nonzero(self.places.take(self.whole.chunks[start:end]) != HIDDEN))


@dataclass(frozen=True, slots=True, eq=False)
class VisibleVectors:
    """The dense lane of a view."""

    whole: VectorLane
    selection: Selection

    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the visible chunks of highest cosine."""
        places = self.selection.chunk_places
        visible = places != HIDDEN
        if allowed is not None:
            visible[self.selection.chunks[~allowed]] = False
        hits = self.whole.search(vector, count, visible)
        return replace(hits, chunks=places.take(hits.chunks).astype(np.int64))

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) to given chunks (m,)."""
        return self.whole.scores(vector, self._in_whole(chunks))

    def nearness(self, chunk: int, chunks: Numbers) -> Scores:
        """Return the cosines (m,) of one chunk to given chunks (m,)."""
        return self.whole.nearness(int(self.selection.chunks[chunk]), self._in_whole(chunks))

    def distance(self, vector: Vector) -> float | None:
        """Return how far a query is from what all chunks are about."""
        return self.whole.distance(vector)

    def _in_whole(self, chunks: Numbers) -> Numbers:
        return self.selection.chunks.take(chunks).astype(np.int64)


def _columns_within(columns: FilterColumns, selection: Selection) -> FilterColumns:
    chunk_sources = columns.chunk_sources[selection.chunks]
    has_source = np.bincount(chunk_sources, minlength=len(columns.sources)) > 0
    tag_ends, tag_chunks = _lists_within(
        columns.tag_offsets, columns.tag_chunks, selection.chunk_places
    )
    tags, tag_offsets = _with_entries(tag_ends)
    values = columns.values
    ends, documents = _lists_within(values.starts, values.documents, selection.document_places)
    keys, starts = _with_entries(ends)
    return FilterColumns(
        columns=columns.columns,
        modified=columns.modified[selection.chunks],
        sources=[columns.sources[number] for number in np.flatnonzero(has_source).tolist()],
        chunk_sources=(np.cumsum(has_source) - 1).astype(np.uint16)[chunk_sources],
        tags=[columns.tags[number] for number in tags.tolist()],
        tag_offsets=tag_offsets,
        tag_chunks=tag_chunks,
        values=ValueTable(_Picked(values.keys, keys), starts, documents, len(selection.documents)),
        document_lengths=columns.document_lengths[selection.documents],
    )


def _documents_within(
    documents: Documents, selection: Selection, chunk_lines: Records, columns: FilterColumns
) -> Documents:
    first_chunks = np.zeros(len(selection.documents) + 1, dtype=np.uint64)
    np.cumsum(columns.document_lengths, out=first_chunks[1:], dtype=np.uint64)
    counts = zip(
        columns.sources,
        np.bincount(columns.chunk_sources[first_chunks[:-1].astype(np.int64)]).tolist(),
        np.bincount(columns.chunk_sources).tolist(),
        strict=True,
    )
    summaries = sorted((SourceSummary(*each) for each in counts), key=lambda one: one.name)
    # [page
    places = selection.document_places
    link_ends, linked = _lists_within(
        documents.link_ends,
        documents.linked,
        places,
        np.repeat(places, np.diff(documents.link_ends).astype(np.int64)) != HIDDEN,
    )
    # ]
    return Documents(
        lines=VisibleRecords(documents.lines, selection.documents, selection.document_places),
        chunk_lines=chunk_lines,
        first_chunks=first_chunks,
        read_sources=summaries.copy,
        # [page
        link_ends=np.append(link_ends[:1], link_ends[1:][selection.documents]),
        linked=linked,
        # ]
    )


def _lists_within(
    starts: NDArray[np.uint64],
    entries: NDArray[np.uint32],
    places: NDArray[np.int32],
    kept: Mask | bool = True,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the lists of what is visible, by its places: where each starts (k + 1,), and entries.

    Only entries (e,) that are `kept` (e,) come into question.
    """
    found = places.take(entries)
    seen = (found != HIDDEN) & kept
    ends = np.zeros(len(entries) + 1, dtype=np.uint64)
    np.cumsum(seen, out=ends[1:])
    return ends.take(starts.astype(np.int64)), found[seen].view(np.uint32)


def _with_entries(starts: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Return which of k lists have entries, and where these start, with the end of the last."""
    numbers = np.flatnonzero(np.diff(starts))
    return numbers, np.append(starts.take(numbers), starts[-1:])


class _Picked(Sequence[bytes]):
    """Those of sorted keys that have the `numbers` (k,), ascending."""

    def __init__(self, keys: Sequence[bytes], numbers: NDArray[np.intp]) -> None:
        self._keys, self._numbers = keys, numbers.astype(np.uint32)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return self._keys[int(self._numbers[number])]
