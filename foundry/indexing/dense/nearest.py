"""The vectors nearest to calibration queries, found in one pass over all vectors."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1


class Nearest(NamedTuple):
    """The numbers (q, depth) of the vectors nearest to q queries, and their cosines (q, depth)."""

    chunks: NDArray[np.int64]
    cosines: NDArray[np.float32]

    @classmethod
    def unknown(cls, queries: int, depth: int) -> Self:
        """Return placeholders, which the first vectors replace."""
        return cls(np.full((queries, depth), UNKNOWN), np.full((queries, depth), -2.0, np.float32))

    def join(self, first: int, cosines: NDArray[np.float32]) -> Self:
        """Merge with the n vectors numbered from `first`, given their `cosines` (q, n).

        The nearest come first; ties are ordered by number.
        """
        queries, depth = self.chunks.shape
        least = self.cosines.min(axis=1, initial=2.0)
        # Searching a flat array of booleans is ten times as fast as one of two dimensions.
        vectors, rows = np.divmod(np.flatnonzero(least < cosines.T), queries)
        rows = np.concatenate([np.repeat(np.arange(queries), depth), rows])
        numbers = np.concatenate([self.chunks.ravel(), first + vectors])
        values = np.concatenate([self.cosines.ravel(), cosines.T[vectors, rows[queries * depth :]]])
        order = np.lexsort((numbers, -values, rows))
        starts = np.searchsorted(rows[order], np.arange(queries))
        best = order[starts[:, np.newaxis] + np.arange(depth)]
        return type(self)(numbers[best], values[best])
