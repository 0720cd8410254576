"""The keyword lane: Okapi BM25 over precomputed impacts.

The score of a chunk is the sum over the query's terms of

    idf(t) * tf / (tf + k1 * (1 - b + b * length / average length)),
    idf(t) = ln(1 + (n - df + 0.5) / (df + 0.5))

(Robertson and Zaragoza 2009, The Probabilistic Relevance Framework; idf as in Lucene.) The build
computes these impacts, so a query only adds up the postings of its terms.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..index.layout import IndexFiles, IndexLayout, Vocabulary, open_array
from ..index.protocols import LaneHits, Mask, Numbers, Posting, Scores
from ..index.remembering import remember
from .candidates import best, threshold
from .timing import stage

KEPT_BYTES = 64  # Size of a search's arrays, per chunk, if every chunk contains the term.
MOST_KEPT_BYTES = 24 * 2**20  # glibc ignores blocks above 32 MiB.
RARE_PART = 8  # Rare terms have under 1/8 of the query's postings each, and under 1/4 together.
MANY_POSTINGS = 4_000  # If an eighth of the postings is at most this many, all are summed.
FULL_PART = 8  # If postings exceed an eighth of all chunks, a dense array is faster.


class PostingsLane(ABC):
    """BM25 search over postings of `chunk_count` chunks; see `TermLane`."""

    __slots__ = ()
    chunk_count: int

    @abstractmethod
    def frequency(self, term: str) -> int:
        """Return the document frequency of a term: the number of chunks that contain it."""

    @abstractmethod
    def postings(self, terms: Sequence[str]) -> Iterator[Posting]:
        """Yield, for each distinct term of the index, its chunks, ascending, and their impacts."""

    @stage("keyword")
    def search(self, terms: Sequence[str], count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest BM25; see `TermLane`."""
        postings = [*self.postings(terms)]
        if not postings:
            return LaneHits.none()
        limit = sum(len(chunks) for chunks, _ in postings) / RARE_PART
        rare = [one for one in postings if len(one[0]) < limit]
        if limit > MANY_POSTINGS and 0 < sum(len(chunks) for chunks, _ in rare) < 2 * limit:
            # Chunks with only frequent terms are rarely among the best (MaxScore: Turtle and Flood
            # 1995).
            most = sum(float(impacts.max()) for chunks, impacts in postings if len(chunks) >= limit)
            found = self._add_up(rare, allowed)
            if len(found) >= count and (enough := threshold(found.scores, count)) > most:
                near = np.sort(found.chunks[found.scores >= enough - most])
                if len(near) * len(postings) < limit:  # Otherwise summing everything is faster.
                    return best(near, self.scores(terms, near), count)
        found = self._add_up(postings, allowed)
        return replace(best(found.chunks, found.scores, count), score_of=found.score_of)

    def scores(self, terms: Sequence[str], chunks: Numbers) -> Scores:
        """Return the exact scores (m,) of chunks (m,), ascending."""
        scores = np.zeros(len(chunks), dtype=np.float64)
        # The dtype of the postings, which `searchsorted` would otherwise convert.
        wanted = chunks.astype(np.uint32)
        for posting_chunks, impacts in self.postings(terms):
            places = np.searchsorted(posting_chunks, wanted)
            inside = posting_chunks.take(places, mode="clip") == wanted
            scores += inside * impacts.take(places, mode="clip")
        return scores

    def having(self, term: str) -> NDArray[np.integer]:
        """Return the chunks (m,), ascending, that contain a term."""
        return next((chunks for chunks, _ in self.postings([term])), np.empty(0, np.uint32))

    def _add_up(self, postings: Sequence[Posting], allowed: Mask | None) -> LaneHits:
        """Return the allowed chunks of postings, unordered, with their summed impacts.

        Chunks [2, 5] with impacts [1, 0.5] and [5, 7] with [2, 1] yield [2, 5, 7] with [1, 2.5, 1].
        """
        # These are the dtypes of the operations below, which would otherwise convert the arrays
        # each time.
        chunks = np.concatenate([chunks for chunks, _ in postings], dtype=np.intp)
        impacts = np.concatenate([impacts for _, impacts in postings], dtype=np.float64)
        if len(chunks) > self.chunk_count // FULL_PART:
            sums = np.bincount(chunks, impacts, self.chunk_count).astype(np.float64, copy=False)
            is_found = np.zeros(self.chunk_count, dtype=np.bool_)
            is_found[chunks] = True
            ends = np.flatnonzero(is_found if allowed is None else is_found & allowed)
            return LaneHits(ends, sums.take(ends), score_of=sums.take)
        # Each sum is stored at the chunk's last posting. Uninitialised entries of `last` point to
        # other chunks (sparse sets: Briggs and Torczon 1993).
        order = np.arange(len(chunks), dtype=np.int32)
        last = np.empty(self.chunk_count, dtype=np.int32)
        last[chunks] = order
        places = last.take(chunks)
        # For each chunk, `bincount` adds the impacts in the order of the terms, so sums are rounded
        # alike.
        sums = np.bincount(places, impacts).astype(np.float64, copy=False)

        def score_of(wanted: Numbers) -> Scores:
            places = last.take(wanted) % len(chunks)
            return np.where(chunks.take(places) == wanted, sums.take(places), 0.0)

        is_last = places == order
        ends = np.flatnonzero(is_last if allowed is None else is_last & allowed[chunks])
        return LaneHits(chunks.take(ends), sums.take(ends), score_of=score_of)


@dataclass(frozen=True, slots=True, eq=False)
class KeywordLane(PostingsLane):
    """BM25 search over the postings of an index; see `TermLane`."""

    find: Callable[[str], tuple[int, int]]  # Start and end of a term's postings
    chunks: NDArray[np.uint32]
    impacts: NDArray[np.float32]
    chunk_count: int

    @classmethod
    def open(cls, files: IndexFiles) -> "KeywordLane":
        """Memory-map the lane's files. Raises IndexUnusableError."""
        manifest = files.manifest
        return cls.map(files.layout, manifest.chunks, manifest.terms, manifest.postings)

    @classmethod
    def map(cls, layout: IndexLayout, chunks: int, terms: int, postings: int) -> "KeywordLane":
        """Memory-map the files of an index with these numbers of chunks, terms and postings."""
        vocabulary = Vocabulary.open(layout.terms, layout.term_offsets, terms)
        offsets = open_array(layout.posting_offsets, np.uint64, (terms + 1,))
        # Once glibc has mapped and freed a block, it retains twice as much freed memory
        # (M_MMAP_THRESHOLD in mallopt(3)); the block need not be written to. Otherwise each search
        # would return its arrays to the system and map new pages, which takes a quarter of its time
        # or more at 100,000 chunks.
        np.empty(min(KEPT_BYTES * chunks, MOST_KEPT_BYTES), dtype=np.uint8)
        return cls(
            # A query looks up each of its terms several times.
            remember(partial(_find, vocabulary, offsets)),
            open_array(layout.posting_chunks, np.uint32, (postings,)),
            open_array(layout.posting_impacts, np.float32, (postings,)),
            chunks,
        )

    def frequency(self, term: str) -> int:
        """Return the document frequency of a term: the number of chunks that contain it."""
        start, end = self.find(term)
        return end - start

    def postings(self, terms: Sequence[str]) -> Iterator[Posting]:
        """Yield, for each distinct term of the index, its chunks, ascending, and their impacts."""
        # Sorted, so that rounding does not depend on the order of the query's words.
        for term, times in sorted(Counter(terms).items()):
            start, end = self.find(term)
            if start < end:
                impacts = self.impacts[start:end]
                repeated = impacts if times == 1 else impacts * np.float64(times)
                yield self.chunks[start:end], repeated


def _find(vocabulary: Vocabulary, offsets: NDArray[np.uint64], term: str) -> tuple[int, int]:
    number = vocabulary.find(term)
    return (0, 0) if number is None else (int(offsets[number]), int(offsets[number + 1]))
