"""The nearest vectors to calibration queries, kept from one build to the next.

The queries that measure an index are its headings and some that never change, and most of its
vectors are those of the previous index: only what is new has to be compared.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import open_stored, write_array
from foundry.indexing.handover import Handover

UNKNOWN = -1


class Nearest(NamedTuple):
    """The numbers (q, depth) of the nearest vectors to q queries, and their cosines (q, depth)."""

    chunks: NDArray[np.int64]
    cosines: NDArray[np.float32]

    @classmethod
    def unknown(cls, queries: int, depth: int) -> Self:
        """Return placeholders, which any vector replaces."""
        return cls(np.full((queries, depth), UNKNOWN), np.full((queries, depth), -2.0, np.float32))

    def join(self, first: int, cosines: NDArray[np.float32]) -> Self:
        """Return the nearest among these and the vectors from the number `first` on, by their
        `cosines` (q, n); of equal ones those of lower numbers. The nearest vector comes first.
        """
        queries, depth = self.chunks.shape
        least = self.cosines.min(axis=1, initial=2.0)
        vectors, rows = np.nonzero(least < cosines.T)
        rows = np.concatenate([np.repeat(np.arange(queries), depth), rows])
        numbers = np.concatenate([self.chunks.ravel(), first + vectors])
        values = np.concatenate([self.cosines.ravel(), cosines.T[vectors, rows[queries * depth :]]])
        order = np.lexsort((numbers, -values, rows))
        starts = np.searchsorted(rows[order], np.arange(queries))
        best = order[starts[:, np.newaxis] + np.arange(depth)]
        return type(self)(numbers[best], values[best])

    def hand_over(self, handover: Handover, queries: NDArray[np.float32]) -> None:
        """Write what `PreviousNearest` opens."""
        write_array(handover.nearest_queries, queries)
        write_array(handover.nearest_chunks, self.chunks)
        write_array(handover.nearest_cosines, self.cosines)


class PreviousNearest:
    """The nearest neighbours that the previous build found, among the vectors carried over.

    `renumbered` (n,) are the numbers of its vectors among `count`, negative for those that are
    gone; `added` are the spans that are new.
    """

    def __init__(self, handover: Handover, renumbered: NDArray[np.int64], count: int) -> None:
        chunks = renumbered[open_stored(handover.nearest_chunks)]
        # What is nearest in the place of one that is gone is not known.
        is_whole = (chunks >= 0).all(axis=1)
        self._nearest = Nearest(chunks[is_whole], open_stored(handover.nearest_cosines)[is_whole])
        queries = open_stored(handover.nearest_queries)[is_whole]
        self._places = {query.tobytes(): place for place, query in enumerate(queries)}
        is_added = np.ones(count, dtype=bool)
        is_added[renumbered[renumbered >= 0]] = False
        ends = np.flatnonzero(np.diff(is_added, prepend=False, append=False))
        self.added: list[list[int]] = ends.reshape(-1, 2).tolist()

    def find(self, queries: NDArray[np.float32], depth: int) -> Nearest:
        """Return the nearest to queries (q, d); UNKNOWN for queries that are new."""
        found, (chunks, cosines) = Nearest.unknown(len(queries), depth), self._nearest
        if chunks.shape[1] == depth:
            for row, query in enumerate(queries):
                if (place := self._places.get(query.tobytes())) is not None:
                    found.chunks[row], found.cosines[row] = chunks[place], cosines[place]
        return found
