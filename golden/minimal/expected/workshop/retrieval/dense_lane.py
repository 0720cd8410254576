"""The dense lane: cosine similarity in two passes.

The first pass compares sign sketches by Hamming distance, which orders chunks by angle well enough
(Charikar 2002, Similarity Estimation Techniques from Rounding Algorithms) and reads one bit a
dimension; the second computes exact cosines of the quantised vectors for the nearest few hundred.
How many is measured when the index is built. Small sets are scanned exactly.

Query and rows are integers of at most 127 in size, so that every product and partial sum is an
integer that the floating type holds exactly: scores are the same whatever order a machine adds in.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..index.arrays import exact_type, open_array, quantise
from ..index.files import IndexFiles
from ..index.layout import IndexLayout
from .lanes import LaneHits, best
from .timing import stage

EXACT_SCAN_LIMIT = 2_000
"""Chunks up to which a full scan costs no more than a sketch pass and its rescoring."""

SKETCHES_AT_ONCE = 50_000
"""Few enough for what is between the steps of a comparison to stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class _Query:
    values: NDArray[np.floating]
    scale: float
    signs: NDArray[np.uint64]


class DenseLane:
    """Cosine search over the quantised vectors of one index."""

    def __init__(
        self,
        vectors: NDArray[np.int8],
        scales: NDArray[np.float32],
        centre: NDArray[np.float32],
        sketch: NDArray[np.uint64],
        candidates: int,
    ) -> None:
        self._vectors = vectors
        self._scales = scales
        self._centre = centre
        self._sketch = sketch
        self._candidates = candidates
        self._prepared: tuple[NDArray[np.float32], _Query] | None = None

    @classmethod
    def open(cls, files: IndexFiles) -> "DenseLane":
        """Map the lane's files. Raises IndexUnusableError."""
        dense = files.require_dense()
        return cls.map(files.layout, files.manifest.chunks, dense.dimensions, dense.candidates)

    @classmethod
    def map(cls, layout: IndexLayout, chunks: int, dimensions: int, candidates: int) -> "DenseLane":
        """Map the files of an index of so many chunks, reading the sketch `candidates` deep."""
        return cls(
            open_array(layout.vectors, np.int8, (chunks, dimensions)),
            open_array(layout.vector_scales, np.float32, (chunks,)),
            open_array(layout.vector_centre, np.float32, (dimensions,)),
            open_array(layout.sketch, np.uint64, (-(-dimensions // 64), chunks)),
            candidates,
        )

    @stage("semantic")
    def search(
        self,
        vector: NDArray[np.float32],
        count: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> LaneHits:
        """Find the nearest chunks, as `VectorLane` says."""
        query = self._prepare(vector)
        pool = None if allowed is None else np.flatnonzero(allowed)
        size = len(self._scales) if pool is None else len(pool)
        depth = max(self._candidates, 2 * count)
        if size > max(EXACT_SCAN_LIMIT, depth):
            pool = self._nearest(query, depth, pool)
        elif pool is None:
            pool = np.arange(size)
        pool = pool[self._scales[pool] > 0]
        return best(pool, self._cosines(query, pool), count)

    def scores(self, vector: NDArray[np.float32], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosines (m,) of the unit `vector` (d,) to given chunks (m,)."""
        return self._cosines(self._prepare(vector), chunks)

    def nearness(self, chunk: int, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cosines (m,) of the vector of one chunk to those of given chunks (m,)."""
        kind = exact_type(self._vectors.shape[1])
        row = self._vectors[chunk].astype(kind)
        return self._products(row, chunks) * self._scales[chunks] * float(self._scales[chunk])

    def _prepare(self, vector: NDArray[np.float32]) -> _Query:
        # A search is followed by the scores of what the other lane found, for the same vector.
        last = self._prepared
        if last is not None and last[0] is vector:
            return last[1]
        integers, scale = quantise(vector[np.newaxis, :])
        kind = exact_type(vector.shape[0])
        signs = pack_signs(vector[np.newaxis, :], self._centre)[:, 0]
        query = _Query(integers[0].astype(kind), float(scale[0]), signs)
        self._prepared = (vector, query)
        return query

    def _cosines(self, query: _Query, chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._products(query.values, chunks) * self._scales[chunks] * query.scale

    def _products(
        self, values: NDArray[np.floating], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        rows = self._vectors.take(chunks, axis=0).astype(values.dtype)
        # A product for each row works in this thread; one for all would wake BLAS's pool of them,
        # which on a busy machine costs more than the product.
        products: NDArray[np.floating] = np.vecdot(rows, values)
        return products.astype(np.float64)

    def _nearest(
        self, query: _Query, depth: int, pool: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        sketch = self._sketch if pool is None else self._sketch[:, pool]
        distances = np.empty(sketch.shape[1], dtype=np.uint16)
        for start in range(0, len(distances), SKETCHES_AT_ONCE):
            part = slice(start, start + SKETCHES_AT_ONCE)
            differing = np.bitwise_count(sketch[:, part] ^ query.signs[:, np.newaxis])
            differing.sum(axis=0, dtype=np.uint16, out=distances[part])
        farthest = bisect_left(
            range(64 * len(sketch)),
            depth,
            key=lambda distance: int(np.count_nonzero(distances <= distance)),
        )
        chosen = np.flatnonzero(distances <= farthest)
        return chosen if pool is None else pool[chosen]


def pack_signs(vectors: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return sign sketches (ceil(d / 64), n) of vectors (n, d) around `centre` (d,)."""
    count, dimensions = vectors.shape
    words = -(-dimensions // 64)
    bits = np.zeros((count, words * 64), dtype=np.bool_)
    bits[:, :dimensions] = vectors > centre
    packed = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    return np.ascontiguousarray(packed.reshape(count, words).T)
