"""The dense lane: cosine similarity to vectors that an engine holds.

Query and rows are integers of at most 127 in size, as they are without an engine, so the scores are
the same within the precision in which the engine multiplies.
"""

import numpy as np
from numpy.typing import NDArray

from ..index.arrays import exact_type, quantise
from ..index.layout import IndexLayout
from ..store.store import Store, VersionMissingError
from ..store.versions import open_store
from .lanes import LaneHits
from .timing import stage

__all__ = ["DenseLane", "exact_type", "quantise"]


class DenseLane:
    """Cosine search over the vectors of one version in an engine."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def open(
        cls, layout: IndexLayout, _chunks: int, _dimensions: int, _candidates: int
    ) -> "DenseLane":
        """The lane of an index; nothing of it is on this machine."""
        return cls(open_store(layout))

    @stage("semantic")
    def search(
        self,
        vector: NDArray[np.float32],
        count: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> LaneHits:
        """The `count` chunks of highest cosine to the unit `vector` (d,), among `allowed` (n,).

        Chunks without a vector are no hits. Raises StoreError.
        """
        if allowed is not None and not allowed.any():
            return LaneHits.none()
        integers, scale = _quantise_one(vector)
        hits = self._store.ask(
            lambda engine, version: engine.search_vector(version, integers, scale, count, allowed)
        )
        if not len(hits):
            # No chunk that may be found has a vector, or there are none at all.
            self._store.ask(lambda engine, version: engine.check(version))
            if allowed is None:
                raise VersionMissingError(
                    f"the engine found no vector of index {self._store.version}",
                    hint="publish the index again: foundry publish",
                )
        return hits

    def scores(self, vector: NDArray[np.float32], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """The exact cosines (m,) of the unit `vector` (d,) to given chunks (m,)."""
        if not len(chunks):
            return np.zeros(0)
        integers, scale = _quantise_one(vector)
        return self._store.ask(
            lambda engine, version: engine.score_vector(version, integers, scale, chunks)
        )

    def nearness(self, chunk: int, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cosines (m,) of the vector of one chunk to those of given chunks (m,)."""
        row = self._store.ask(lambda engine, version: engine.read_vector(version, chunk))
        return self.scores(row, chunks)


def _quantise_one(vector: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    integers, scales = quantise(vector[np.newaxis, :])
    return integers[0], float(scales[0])
