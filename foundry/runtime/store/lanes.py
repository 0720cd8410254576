"""The lanes of an index whose vectors and postings an engine holds."""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..index.layout import IndexFiles, Vocabulary, open_array
from ..index.reader import Index
from ..retrieval.candidates import LaneHits, QueryEncoder, stage
from ..retrieval.dense_lane import quantise
from ..retrieval.tokens import remember
from .settings import StoreSettings
from .store import HELD_FILES, Engine, Store, VersionMissingError, open_store


class StoredKeywordLane:
    """BM25 search over the postings of one version in an engine.

    Vocabulary and frequencies are the index's own, so that the engine is asked for numbers of
    terms that it has; scores are the same as without an engine. Everything raises StoreError.
    """

    def __init__(self, files: IndexFiles, store: Store) -> None:
        """Map the files that the server has. Raises IndexUnusableError."""
        layout, terms = files.layout, files.manifest.terms
        self._find = remember(Vocabulary.open(layout.terms, layout.term_offsets, terms).find)
        self._offsets = open_array(layout.posting_offsets, np.uint64, (terms + 1,))
        self._store = store

    @stage("keyword")
    def search(
        self, terms: Iterable[str], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """Find the `count` best chunks for the query's terms; see `TermLane`."""
        asked = self._numbers(terms)
        if not asked or (allowed is not None and not allowed.any()):
            return LaneHits.none()
        hits = self._store.ask(
            lambda engine, version: engine.search_terms(version, asked, count, allowed)
        )
        least = max(self._count(number) for number, _ in asked)
        if allowed is None and len(hits) < min(count, least):
            raise VersionMissingError(
                f"the engine found {len(hits)} chunks where index {self._store.version} has"
                f" {least}",
                hint="publish the index again: foundry publish",
            )
        if not len(hits):
            # No chunk that may be found has one of the terms, or there are none at all.
            self._store.ask(lambda engine, version: engine.check(version))
        return hits

    def scores(self, terms: Iterable[str], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact scores (m,) of given chunks (m,), ascending chunk numbers."""
        asked = self._numbers(terms)
        if not asked or not len(chunks):
            return np.zeros(len(chunks))
        return self._store.ask(lambda engine, version: engine.score_terms(version, asked, chunks))

    def frequency(self, term: str) -> int:
        """Return the number of chunks that have a term."""
        number = self._find(term)
        return 0 if number is None else self._count(number)

    def _count(self, number: int) -> int:
        return int(self._offsets[number + 1] - self._offsets[number])

    def _numbers(self, terms: Iterable[str]) -> list[tuple[int, int]]:
        found = ((self._find(term), times) for term, times in sorted(Counter(terms).items()))
        return [(number, times) for number, times in found if number is not None]


class StoredDenseLane:
    """Cosine search over the vectors of one version in an engine.

    Query and rows are integers of at most 127 in size, as they are without an engine, so the
    scores are the same within the precision in which the engine multiplies. Everything raises
    StoreError.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    @stage("semantic")
    def search(
        self, vector: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """Find the `count` chunks of highest cosine to the unit `vector` (d,); see `VectorLane`."""
        if allowed is not None and not allowed.any():
            return LaneHits.none()
        integers, scale = _quantise_one(vector)
        hits = self.store.ask(
            lambda engine, version: engine.search_vector(version, integers, scale, count, allowed)
        )
        if not len(hits):
            # No chunk that may be found has a vector, or there are none at all.
            self.store.ask(lambda engine, version: engine.check(version))
            if allowed is None:
                raise VersionMissingError(
                    f"the engine found no vector of index {self.store.version}",
                    hint="publish the index again: foundry publish",
                )
        return hits

    def scores(self, vector: NDArray[np.float32], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosines (m,) of the unit `vector` (d,) to given chunks (m,)."""
        if not len(chunks):
            return np.zeros(0)
        integers, scale = _quantise_one(vector)
        return self.store.ask(
            lambda engine, version: engine.score_vector(version, integers, scale, chunks)
        )

    def nearness(self, chunk: int, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cosines (m,) of the vector of one chunk to those of given chunks (m,)."""
        row = self.store.ask(lambda engine, version: engine.read_vector(version, chunk))
        return self.scores(row, chunks)


def open_stored(
    directory: Path,
    *,
    open_engine: Callable[[StoreSettings], Engine],
    open_encoder: Callable[[IndexFiles], QueryEncoder],
) -> Index:
    """Open an index whose lanes are in an engine. Raises IndexUnusableError."""
    files = IndexFiles.open(directory, HELD_FILES)
    store = open_store(files, open_engine)
    return Index(
        files, StoredKeywordLane(files, store), StoredDenseLane(store), open_encoder(files)
    )


def _quantise_one(vector: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    integers, scales = quantise(vector[np.newaxis, :])
    return integers[0], float(scales[0])
