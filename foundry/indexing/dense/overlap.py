"""Measures how well the rankings of a query encoder agree with the rankings of the model."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from foundry.config.search import DEFAULT_WEIGHTS
from foundry.runtime.index.heading_terms import query_terms
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.candidates import candidate_count
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.hybrid import fuse_linear, join_lanes
from foundry.runtime.retrieval.keyword_lane import KeywordLane

DEPTH = 10
SEMANTIC_WEIGHT, KEYWORD_WEIGHT = DEFAULT_WEIGHTS["linear"]


class RankingOverlap:
    """Ranks queries with the files of an unfinished index.

    `count` waits until the postings are written, and returns the numbers of terms and postings.
    `shape` is the shape (n, d) of the vectors.
    """

    def __init__(
        self,
        layout: IndexLayout,
        tokenizer: Tokenizer,
        count: Callable[[], tuple[int, int]],
        shape: tuple[int, int],
    ) -> None:
        self._layout, self._tokenizer, self._count = layout, tokenizer, count
        self._chunks, self._dimensions = shape

    @cached_property
    def _keyword_lane(self) -> KeywordLane:
        # The lane is opened on first use: few embedders need rankings, and writing postings takes a
        # while.
        return KeywordLane.map(self._layout, self._chunks, *self._count())

    @cached_property
    def _dense_lane(self) -> DenseLane:
        # Exact: every chunk is a candidate.
        return DenseLane.map(self._layout, self._chunks, self._dimensions, self._chunks)

    def __call__(
        self, queries: Sequence[str], first: NDArray[np.float32], second: NDArray[np.float32]
    ) -> float | None:
        """Return the overlap of the ten best chunks of `first` and `second`, beyond chance.

        Both are unit vectors (q, d) of the `queries`; for a zero row, only keywords count. Rankings
        use linear fusion with default weights. The mean overlap is corrected as (share - expected)
        / (1 - expected), where `expected` is what random rankings share, 10 / n of n chunks.
        Returns None if no query finds a chunk, or if all rankings contain all chunks, as with at
        most ten.
        """
        shares, expected = [], []
        for query, one, other in zip(queries, first, second, strict=True):
            terms = query_terms(self._tokenizer.tokenize(query))
            keyword = self._keyword_lane.search(terms, candidate_count(DEPTH))
            best = self._rank(terms, keyword, one)
            if best:
                others = self._rank(terms, keyword, other)
                shares.append(len(best & others) / len(best))
                expected.append(len(others) / self._chunks)
        if not shares or np.mean(expected) == 1:
            return None
        return float((np.mean(shares) - np.mean(expected)) / (1 - np.mean(expected)))

    def _rank(
        self, terms: Sequence[str], keyword: LaneHits, vector: NDArray[np.float32]
    ) -> set[int]:
        if not vector.any():
            return set(keyword.chunks[:DEPTH].tolist())
        semantic = self._dense_lane.search(vector, candidate_count(DEPTH))
        score_terms = partial(self._keyword_lane.scores, terms)
        score_vector = partial(self._dense_lane.scores, vector)
        candidates = join_lanes(keyword, semantic, score_terms, score_vector)
        scores = fuse_linear(candidates, SEMANTIC_WEIGHT, KEYWORD_WEIGHT).scores
        order = np.lexsort((candidates.chunks, -scores))[:DEPTH]
        return set(candidates.chunks[order].tolist())
