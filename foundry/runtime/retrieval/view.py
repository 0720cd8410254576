"""A view of an index, limited to the documents that pass some filters.

A view consists of parts restricted to these documents. It numbers its chunks and documents from 0,
and its lists, values and counts cover only them; postings, vectors and records stay in the index
and are read through a mapping of numbers. Parts that cannot be restricted are missing. Scores are
those of the whole index, except in views of `own_statistics`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..index.documents import Documents, SourceSummary
from ..index.protocols import Mask, Records, TermLane, VectorLane
from ..index.reader import Index, OpenedIndex, Part
from .filters import FilterColumns, Filters
from .values import ValueTable
from .visible import HIDDEN, Selection, VisibleRecords, VisibleTerms, VisibleVectors

KNOWN_OF_VECTORS = ("model", "query", "background")


def view_of(index: OpenedIndex, filters: Filters | None) -> Index:
    """Return the view of the documents that pass filters; None gives an empty view.

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


@runtime_checkable
class Divisible(Protocol):
    """A part of an index that can be restricted to some documents."""

    def within(self, documents: Mask) -> Self:
        """Return the part restricted to documents (m,), renumbered from 0."""


@dataclass(frozen=True, slots=True)
class _Contents:
    """The metadata of a view; see `IndexMetadata`."""

    language: str
    dense: dict[str, Any] | None
    sources: list[str]
    tags: list[str]
    known_items: tuple[()] = ()


class View(Index):
    """A subset of an index's documents, with the given lanes."""

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
        """Create the parts that every index has; `dense` describes the vectors."""
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
        """Return a part for visible documents. Raises PermissionError unless it is Divisible."""
        part: Part = self._divide(kind)
        return part


def _divide(index: OpenedIndex, documents: Mask, kind: Callable[[OpenedIndex], Any]) -> Any:
    whole = index.part(kind)
    if not isinstance(whole, Divisible):
        raise PermissionError(f"{type(whole).__name__} would reveal documents outside the view")
    return whole.within(documents)


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
    places = selection.document_places
    link_ends, linked = _lists_within(
        documents.link_ends,
        documents.linked,
        places,
        np.repeat(places, np.diff(documents.link_ends).astype(np.int64)) != HIDDEN,
    )
    return Documents(
        lines=VisibleRecords(documents.lines, selection.documents, selection.document_places),
        chunk_lines=chunk_lines,
        first_chunks=first_chunks,
        sources=summaries.copy,
        link_ends=np.append(link_ends[:1], link_ends[1:][selection.documents]),
        linked=linked,
    )


def _lists_within(
    starts: NDArray[np.uint64],
    entries: NDArray[np.uint32],
    places: NDArray[np.int32],
    kept: Mask | bool = True,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Restrict concatenated lists to visible entries: return their starts (k + 1,) and entries.

    Entries for which `kept` (e,) is false are left out too.
    """
    found = places.take(entries)
    seen = (found != HIDDEN) & kept
    ends = np.zeros(len(entries) + 1, dtype=np.uint64)
    np.cumsum(seen, out=ends[1:])
    return ends.take(starts.astype(np.int64)), found[seen].view(np.uint32)


def _with_entries(starts: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """Return the numbers of the lists that are not empty, and their starts and the last end."""
    numbers = np.flatnonzero(np.diff(starts))
    return numbers, np.append(starts.take(numbers), starts[-1:])


class _Picked(Sequence[bytes]):
    """The sorted keys at positions `numbers` (k,), ascending."""

    def __init__(self, keys: Sequence[bytes], numbers: NDArray[np.intp]) -> None:
        self._keys, self._numbers = keys, numbers.astype(np.uint32)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return self._keys[int(self._numbers[number])]
