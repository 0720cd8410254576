"""The lanes of an index whose vectors and postings are stored in a search engine."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..index.layout import IndexFiles, Vocabulary, open_array, require_vectors
from ..index.protocols import LaneHits, Mask, QueryEncoder, Scores
from ..index.reader import Index, OpenedIndex
from ..index.remembering import remember
from ..retrieval.candidates import Candidates, distance_from
from ..retrieval.hybrid import complete_lanes, join_lanes
from ..retrieval.match import compare_with_terms
from ..retrieval.quantising import quantise_one
from ..retrieval.timing import stage
from .restriction import Restriction
from .settings import StoreSettings
from .store import HELD_FILES, Engine, Store, VersionMissingError, open_store


class StoredKeywordLane:
    """BM25 search over the postings of one version in an engine.

    Vocabulary and frequencies are files of the index, so the engine is queried only for terms in
    the vocabulary. Scores are the same as without an engine. Any search may raise StoreError.
    """

    def __init__(self, files: IndexFiles, store: Store) -> None:
        """Memory-map vocabulary and frequencies. Raises IndexUnusableError."""
        layout, terms = files.layout, files.manifest.terms
        self._number = remember(Vocabulary.open(layout.terms, layout.term_offsets, terms).find)
        self._offsets = open_array(layout.posting_offsets, np.uint64, (terms + 1,))
        self._store = store

    def search(self, terms: Iterable[str], count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` best chunks for the query's terms; see `TermLane`."""
        return self.find(terms, count, None if allowed is None else Restriction(allowed))

    @stage("keyword")
    def find(self, terms: Iterable[str], count: int, only: Restriction | None) -> LaneHits:
        """Find the `count` best chunks for the query's terms, within `only`."""
        asked = self.numbers(terms)
        if not asked or (only is not None and not only.allowed.any()):
            return LaneHits.none()
        hits = self._store.ask(
            lambda engine, edition: engine.search_terms(edition, asked, count, only)
        )
        return self.checked(hits, asked, count, only)

    def checked(
        self,
        hits: LaneHits,
        asked: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the hits for the `asked` terms. Raises StoreError if there are too few."""
        least = max(self._count(number) for number, _ in asked)
        if only is None and len(hits) < min(count, least):
            raise VersionMissingError(
                f"the engine found {len(hits)} chunks, but index {self._store.edition.version} has"
                f" {least}",
                hint="publish the index again: foundry publish",
            )
        if not len(hits):
            # Either no allowed chunk has a term, or the engine lost the version.
            self._store.ask(lambda engine, edition: engine.check(edition))
        return hits

    def scores(self, terms: Iterable[str], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact scores (m,) of chunks (m,), ascending."""
        asked = self.numbers(terms)
        if not asked or not len(chunks):
            return np.zeros(len(chunks))
        return self._store.ask(lambda engine, edition: engine.score_terms(edition, asked, chunks))

    def frequency(self, term: str) -> int:
        """Return the document frequency of a term: the number of chunks that contain it."""
        number = self._number(term)
        return 0 if number is None else self._count(number)

    def having(self, term: str) -> NDArray[np.integer]:
        """Return the chunks (m,), ascending, that contain a term."""
        return np.sort(self.search([term], max(1, self.frequency(term))).chunks)

    def numbers(self, terms: Iterable[str]) -> list[tuple[int, int]]:
        """Return the numbers of the terms that the index has, with their counts in the query."""
        found = ((self._number(term), times) for term, times in sorted(Counter(terms).items()))
        return [(number, times) for number, times in found if number is not None]

    def _count(self, number: int) -> int:
        return int(self._offsets[number + 1] - self._offsets[number])


class StoredDenseLane:
    """Cosine search over the vectors of one version in an engine.

    Query and rows are quantised to int8, as without an engine, so scores are equal within the
    engine's precision. Any search may raise StoreError.
    """

    def __init__(self, files: IndexFiles, store: Store) -> None:
        """Read centre and spread of the vectors. Raises IndexUnusableError."""
        about = require_vectors(files)
        self._centre = open_array(files.layout.vector_centre, np.float32, (about["dimensions"],))
        self._spread, self.store = about["spread"], store

    def search(
        self, vector: NDArray[np.float32], count: int, allowed: Mask | None = None
    ) -> LaneHits:
        """Find the `count` chunks of highest cosine to the unit `vector` (d,); see `VectorLane`."""
        return self.find(vector, count, None if allowed is None else Restriction(allowed))

    @stage("semantic")
    def find(self, vector: NDArray[np.float32], count: int, only: Restriction | None) -> LaneHits:
        """Find the `count` chunks of highest cosine, within `only`."""
        if only is not None and not only.allowed.any():
            return LaneHits.none()
        query = quantise_one(vector)
        hits = self.store.ask(
            lambda engine, edition: engine.search_vector(edition, query, count, only)
        )
        return self.checked(hits, only)

    def checked(self, hits: LaneHits, only: Restriction | None) -> LaneHits:
        """Return the hits. Raises StoreError if there are none although there should be."""
        if not len(hits):
            # Either no allowed chunk has a vector, or the engine lost the version.
            self.store.ask(lambda engine, edition: engine.check(edition))
            if only is None:
                raise VersionMissingError(
                    f"the engine found no vector of index {self.store.edition.version}",
                    hint="publish the index again: foundry publish",
                )
        return hits

    def scores(self, vector: NDArray[np.float32], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosines (m,) of the unit `vector` (d,) to chunks (m,)."""
        if not len(chunks):
            return np.zeros(0)
        query = quantise_one(vector)
        return self.store.ask(lambda engine, edition: engine.score_vector(edition, query, chunks))

    def distance(self, vector: NDArray[np.float32]) -> float | None:
        """Return the distance of the unit `vector` (d,) from the mean; see `distance_from`."""
        return distance_from(self._centre, self._spread, vector)


class StoredSearch:
    """One search, which queries the engine for both lanes at once.

    Terms and `count` are as in `TermLane.search`, `unknown` as in `compare_with_terms`. `only`
    restricts the chunks that may be found. Any method may raise StoreError.
    """

    def __init__(
        self,
        index: Index,
        terms: Sequence[str],
        count: int,
        only: Restriction | None = None,
        unknown: Sequence[str] = (),
    ) -> None:
        """Store the arguments; the engine is queried on first use."""
        self._index = index
        self._keyword_lane = cast(StoredKeywordLane, index.keyword_lane)
        self._dense_lane = cast(StoredDenseLane, index.dense_lane)
        self._terms = terms
        self._count = count
        self._only = only
        self._unknown = unknown
        self._ask_rest: Callable[[], tuple[Scores, Scores]] | None = None

    @cached_property
    def keyword(self) -> LaneHits:
        """The keyword hits with their coverage; queries the engine unless `search_both` has."""
        hits = self._keyword_lane.find(self._terms, self._count, self._only)
        return self._compared(hits)

    @stage("lanes")
    def search_both(self, vector: NDArray[np.float32]) -> LaneHits:
        """Return the dense hits for the unit `vector` (d,), and set `keyword`."""
        only, store = self._only, self._dense_lane.store
        asked = self._keyword_lane.numbers(self._terms)
        if not asked or (only is not None and not only.allowed.any()):
            return self._dense_lane.find(vector, self._count, only)
        query = quantise_one(vector), asked, self._count, only
        found = store.ask(lambda engine, edition: engine.search_both(edition, *query))
        self._ask_rest = lambda: store.ask(lambda _engine, _edition: found.complete())
        hits = self._keyword_lane.checked(found.keyword, asked, self._count, only)
        self.keyword = self._compared(hits)
        return self._dense_lane.checked(found.semantic, only)

    def complete(self, vector: NDArray[np.float32], semantic: LaneHits) -> Candidates:
        """Join the hits of both lanes; see `complete_lanes`."""
        if self._ask_rest is None:
            return complete_lanes(self._index, self._terms, vector, self.keyword, semantic)
        cosines, sums = self._ask_rest()
        # The callbacks get exactly the chunks whose scores `_ask_rest` returned.
        joined = join_lanes(self.keyword, semantic, lambda _chunks: sums, lambda _chunks: cosines)
        return replace(joined, distance=self._dense_lane.distance(vector))

    def _compared(self, hits: LaneHits) -> LaneHits:
        return compare_with_terms(hits, self._index, self._terms, self._unknown)


def open_stored(
    directory: Path,
    *,
    open_engine: Callable[[StoreSettings], Engine],
    open_encoder: Callable[[IndexFiles], QueryEncoder],
    parts: Iterable[Callable[[OpenedIndex], object]] = (),
) -> OpenedIndex:
    """Open an index whose lanes are in an engine. Raises IndexUnusableError."""
    files = IndexFiles.open(directory, HELD_FILES)
    store = open_store(files, open_engine)
    lanes = StoredKeywordLane(files, store), StoredDenseLane(files, store)
    return OpenedIndex(files, *lanes, open_encoder(files), parts=parts)


def describe_engine(index: Index) -> dict[str, Any]:
    """Return the state of the engine for /readyz, and start probing it.

    Raises StoreError while it cannot be searched.
    """
    assert isinstance(index.dense_lane, StoredDenseLane)
    store = index.dense_lane.store
    store.watch()
    if (problem := store.problem) is not None:
        raise type(problem)(problem.message, hint=problem.hint)
    return {"status": "ok"}
