"""The keyword lane: Okapi BM25 over impacts that an engine holds.

Vocabulary and frequencies are the index's own, so that the engine is asked for numbers of terms
that it has. What the scores are is said in `indexing.postings`: the same as without an engine.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..index.arrays import Vocabulary, open_array, open_bytes, remembering
from ..index.layout import IndexLayout
from ..store.store import Store, VersionMissingError
from ..store.versions import open_store
from .lanes import LaneHits
from .timing import stage

__all__ = ["KeywordLane", "Vocabulary"]


class KeywordLane:
    """BM25 search over the postings of one version in an engine."""

    def __init__(self, vocabulary: Vocabulary, offsets: NDArray[np.uint64], store: Store) -> None:
        self._find = remembering(vocabulary)
        self._offsets = offsets
        self._store = store

    @classmethod
    def open(cls, layout: IndexLayout, _chunks: int, terms: int, _postings: int) -> "KeywordLane":
        """Map the files that the server has; the counts are the manifest's."""
        term_offsets = open_array(layout.term_offsets, np.uint64, (terms + 1,))
        return cls(
            Vocabulary(open_bytes(layout.terms, int(term_offsets[-1])), term_offsets),
            open_array(layout.posting_offsets, np.uint64, (terms + 1,)),
            open_store(layout),
        )

    @stage("keyword")
    def search(
        self, terms: Iterable[str], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """The `count` best chunks for the query's terms, among `allowed` (n,) if given.

        A term that stands in the query twice counts twice. Chunks without any term are no hits.
        Raises StoreError.
        """
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
        """The exact scores (m,) of given chunks (m,), ascending chunk numbers."""
        asked = self._numbers(terms)
        if not asked or not len(chunks):
            return np.zeros(len(chunks))
        return self._store.ask(lambda engine, version: engine.score_terms(version, asked, chunks))

    def frequency(self, term: str) -> int:
        """The number of chunks that have a term."""
        number = self._find(term)
        return 0 if number is None else self._count(number)

    def _count(self, number: int) -> int:
        return int(self._offsets[number + 1] - self._offsets[number])

    def _numbers(self, terms: Iterable[str]) -> list[tuple[int, int]]:
        found = ((self._find(term), times) for term, times in sorted(Counter(terms).items()))
        return [(number, times) for number, times in found if number is not None]
