"""The keyword lane: Okapi BM25 over precomputed impacts.

The score of a chunk is the sum over the query's terms of

    idf(t) * tf / (tf + k1 * (1 - b + b * length / average length)),
    idf(t) = ln(1 + (n - df + 0.5) / (df + 0.5))

(Robertson and Zaragoza 2009, The Probabilistic Relevance Framework; idf as in Lucene). All but the
sum is done when the index is built, so a query adds up the postings that it touches and no more.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..index.arrays import open_array
from ..index.files import IndexFiles
from ..index.layout import IndexLayout
from ..index.tables import Vocabulary, remembering
from .lanes import LaneHits, best
from .timing import stage


class KeywordLane:
    """BM25 search over the postings of one index."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        offsets: NDArray[np.uint64],
        chunks: NDArray[np.uint32],
        impacts: NDArray[np.float32],
        chunk_count: int,
    ) -> None:
        # The same words are asked for again and again, and twice for each query.
        self._find = remembering(vocabulary)
        self._offsets = offsets
        self._chunks = chunks
        self._impacts = impacts
        self._chunk_count = chunk_count

    @classmethod
    def open(cls, files: IndexFiles) -> "KeywordLane":
        """Map the lane's files. Raises IndexUnusableError."""
        manifest = files.manifest
        return cls.map(files.layout, manifest.chunks, manifest.terms, manifest.postings)

    @classmethod
    def map(cls, layout: IndexLayout, chunks: int, terms: int, postings: int) -> "KeywordLane":
        """Map the files of an index of so many chunks, terms and postings."""
        return cls(
            Vocabulary.open(layout, terms),
            open_array(layout.posting_offsets, np.uint64, (terms + 1,)),
            open_array(layout.posting_chunks, np.uint32, (postings,)),
            open_array(layout.posting_impacts, np.float32, (postings,)),
            chunks,
        )

    @stage("keyword")
    def search(
        self, terms: Iterable[str], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> LaneHits:
        """Find the best chunks, as `TermLane` says."""
        postings = [*self._postings(terms)]
        if not postings:
            return LaneHits.none()
        # Of the types that what follows works in: it would convert them each time.
        candidates = np.concatenate([chunks for chunks, _ in postings], dtype=np.intp)
        impacts = np.concatenate([impacts for _, impacts in postings], dtype=np.float64)
        # Adds up one posting after the other, for a chunk in the order of the terms.
        scores = np.bincount(candidates, impacts, self._chunk_count).astype(np.float64, copy=False)
        if allowed is not None:
            candidates = candidates[allowed[candidates]]
        return best(candidates, scores.take(candidates), count, repeated=len(postings))

    def scores(self, terms: Iterable[str], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact scores (m,) of given chunks (m,), ascending chunk numbers."""
        scores = np.zeros(len(chunks), dtype=np.float64)
        # Of the postings' own type: a mixed search would first convert all of them.
        wanted = chunks.astype(self._chunks.dtype)
        for posting_chunks, impacts in self._postings(terms):
            places = np.searchsorted(posting_chunks, wanted)
            inside = posting_chunks.take(places, mode="clip") == wanted
            scores += inside * impacts.take(places, mode="clip")
        return scores

    def frequency(self, term: str) -> int:
        """Return the number of chunks that have a term."""
        number = self._find(term)
        return 0 if number is None else int(self._offsets[number + 1] - self._offsets[number])

    def _postings(
        self, terms: Iterable[str]
    ) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.floating]]]:
        """Yield the chunks of each term, ascending, and what the term adds to the score of each."""
        # Sorted, so that sums round alike whatever the order of the query's words.
        for term, times in sorted(Counter(terms).items()):
            number = self._find(term)
            if number is None:
                continue
            start, end = self._offsets[number : number + 2].tolist()
            # All chunks of a term may have been left out of an index.
            if start < end:
                impacts = self._impacts[start:end]
                repeated = impacts if times == 1 else impacts * np.float64(times)
                yield self._chunks[start:end], repeated
