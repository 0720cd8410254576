"""Interface of search engines, and of an index version stored in one.

A server searches exactly the version that its records belong to. So records and lanes never come
from different versions, even if a new version is published during a search.
"""

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexUnusableError, ServerError
from ..index.layout import IndexFiles, IndexLayout, Vocabulary
from ..index.protocols import LaneHits, Scores
from ..index.statistics import CHUNK_LENGTHS, MEAN_LENGTH, POSTING_COUNTS, STATISTICS
from ..retrieval.quantising import QuantisedVector
from .restriction import Restriction
from .rows import ChunkKeys, TermWeights
from .settings import StoreSettings, read_store_settings

PROBE_SECONDS = 2.0
"""Seconds between two probes of the engine."""

Result = TypeVar("Result")


class StoreError(ServerError):
    """A failure of the engine; `reason` contains no address and no file name."""

    reason = "The search engine failed."


class StoreUnreachableError(StoreError):
    """The engine cannot be reached, or refuses connections."""

    reason = "The search engine cannot be reached."


class StoreSlowError(StoreError):
    """The engine did not respond in time."""

    reason = "The search engine did not respond in time."


class VersionMissingError(StoreError):
    """The engine lacks this version of the index, or part of it."""

    reason = "The search engine does not have this index."


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of both lanes for one query.

    `complete` returns the cosines of the chunks that only the keyword lane found, and the BM25
    scores of those that only the dense lane found, both ordered by chunk number.
    """

    keyword: LaneHits
    semantic: LaneHits
    complete: Callable[[], tuple[Scores, Scores]]


@dataclass(frozen=True, slots=True, eq=False)
class Edition:
    """One version of an index, as engines need it: keys and weights by number."""

    version: str
    keys: ChunkKeys
    weights: TermWeights
    needs_records: bool
    open_values: Callable[[], Vocabulary]
    """Maps the filter values; some engines need them for prefix filters."""

    @classmethod
    def open(cls, files: IndexFiles) -> Self:
        """Memory-map keys, weights and filter values. Raises IndexUnusableError."""
        return cls(
            files.manifest.version,
            ChunkKeys.open(files),
            TermWeights.open(files),
            not RECORD_FILES.isdisjoint(files.elsewhere),
            cache(
                partial(
                    Vocabulary.open,
                    files.layout.filter_values,
                    files.layout.filter_value_offsets,
                )
            ),
        )


class Engine(Protocol):
    """A client of an engine; threads can share one.

    Searches return chunks within `only`, or any if it is None. A query is a `vector`, or `terms`,
    given as numbers with their counts in the query. Any method may raise StoreError.
    """

    def search_vector(
        self,
        edition: Edition,
        vector: QuantisedVector,
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest cosine, among those with a vector."""
        ...

    def score_vector(
        self, edition: Edition, vector: QuantisedVector, chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cosines (m,) of chunks (m,), ascending; 0 for a chunk without a vector."""
        ...

    def search_terms(
        self,
        edition: Edition,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest BM25, among those with any of the terms."""
        ...

    def score_terms(
        self, edition: Edition, terms: Sequence[tuple[int, int]], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the BM25 scores (m,) of chunks (m,), ascending; 0 for one without the terms."""
        ...

    def search_both(
        self,
        edition: Edition,
        vector: QuantisedVector,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> Found:
        """Return the hits of `search_vector` and `search_terms`, in as few exchanges as possible.

        `terms` is not empty.
        """
        ...

    def check(self, edition: Edition) -> None:
        """Raise StoreError unless this version can be searched."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


class Store:
    """One version in an engine, with its last known state.

    After a failed call, further calls fail immediately for the same reason until a probe succeeds,
    so callers do not wait for an engine that is down.
    """

    def __init__(self, engine: Engine, edition: Edition) -> None:
        self.engine = engine
        self.edition = edition
        self.problem: StoreError | None = None
        self.is_watched = False
        self._lock = threading.Lock()

    def ask(self, call: Callable[[Engine, Edition], Result]) -> Result:
        """Call the engine for this version and return the result. Raises StoreError."""
        if (problem := self.problem) is not None:
            self.watch()
            raise type(problem)(problem.message, hint=problem.hint)
        try:
            return call(self.engine, self.edition)
        except StoreError as error:
            self.problem = error
            self.watch()
            raise

    def probe(self) -> None:
        """Check the engine now, and store the result as `problem`."""
        try:
            self.engine.check(self.edition)
            self.problem = None
        except StoreError as error:
            self.problem = error

    def watch(self) -> None:
        """Probe the engine every few seconds, in a thread that ends with this object."""
        with self._lock:
            if self.is_watched:
                return
            self.is_watched = True
        threading.Thread(
            target=_watch, args=(weakref.ref(self),), name="store", daemon=True
        ).start()


def _watch(watched: "weakref.ref[Store]") -> None:
    pause = threading.Event()
    while (store := watched()) is not None:
        store.probe()
        del store
        pause.wait(PROBE_SECONDS)


def is_short(hits: LaneHits, count: int, only: Restriction | None) -> bool:
    """Return whether a graph's search with filters found fewer chunks than it should.

    It should find `count`, or all that the filters allow if these are fewer. Filters that exclude
    most chunks leave dead ends in a graph; then all vectors are compared.
    """
    return only is not None and len(hits) < min(count, int(only.allowed.sum()))


_LAYOUT = IndexLayout(Path())

HELD_FILES = frozenset(
    path.as_posix()
    for path in (
        _LAYOUT.posting_chunks,
        _LAYOUT.posting_impacts,
        Path(STATISTICS),
        Path(STATISTICS, POSTING_COUNTS),
        Path(STATISTICS, CHUNK_LENGTHS),
        Path(STATISTICS, MEAN_LENGTH),
        _LAYOUT.vectors,
        _LAYOUT.vector_scales,
        _LAYOUT.sketch,
    )
)
"""Files of an index that a server does not need, because the engine stores their content."""

_RECORDS = _LAYOUT.chunks, _LAYOUT.chunk_offsets, _LAYOUT.documents, _LAYOUT.document_offsets
RECORD_FILES = frozenset(path.as_posix() for path in _RECORDS)
"""Further such files if the engine also stores records."""


_stores: weakref.WeakValueDictionary[tuple[int, str], Store] = weakref.WeakValueDictionary()
_stores_lock = threading.Lock()


def open_store(files: IndexFiles, open_engine: Callable[[StoreSettings], Engine]) -> Store:
    """Return the store of an index; every caller gets the same one.

    An engine that does not respond is not an error here, because it may recover later. Raises
    IndexUnusableError if the engine lacks this index, and ConfigurationError for invalid settings.
    """
    # Per process: workers are forked, and connections cannot be shared.
    key = os.getpid(), files.manifest.version
    with _stores_lock:
        store = _stores.get(key)
        if store is None:
            store = _stores[key] = Store(_open_once(key[0], open_engine), Edition.open(files))
    store.probe()
    if isinstance(store.problem, VersionMissingError):
        problem = store.problem
        raise IndexUnusableError(f"{files.layout.root}: {problem.message}", hint=problem.hint)
    return store


@cache
def _open_once(_process: int, open_engine: Callable[[StoreSettings], Engine]) -> Engine:
    return open_engine(read_store_settings())
