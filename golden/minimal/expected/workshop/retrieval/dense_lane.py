"""The dense lane: cosine similarity in two passes.

The first pass compares sign sketches, one bit per dimension, by Hamming distance (Charikar 2002,
Similarity Estimation Techniques from Rounding Algorithms). In large indexes it reads half of the
bits of all chunks, then all bits of the nearest ones. The second pass computes exact cosines of the
quantised vectors for as many candidates as the build measured to be enough. Products and sums of
int8 values are exact in the float type used, so scores do not depend on the order of addition.
"""

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..index.layout import IndexFiles, IndexLayout, open_array, require_vectors
from ..index.protocols import LaneHits, Mask, Numbers, Scores, Vector
from .candidates import best, distance_from
from .timing import stage

EXACT_SCAN_LIMIT = 2_000  # Up to this many chunks, comparing all vectors is as fast as both passes.
# Small enough that intermediate results stay in the processor's cache.
WORDS_AT_ONCE, ROWS_AT_ONCE = 60_000, 256
PICKED_SHARE = 8  # If at most an eighth of the chunks pass a filter, only their sketches are read.
HALVED_SIZE = 128  # With more chunks than this per candidate, half of the bits are read first,
PASSING = 16  # then all bits of this many chunks per candidate.
# If fewer than a quarter of the distances pass, every 16th is counted first.
SAMPLED_SHARE, SAMPLE_STEP = 4, 16

# 127 * 127 * 1040 < 2**24: the most dimensions whose dot products are exact in float32.
_FLOAT32_DIMENSIONS = 1_040


class _Query(NamedTuple):
    vector: Vector
    values: NDArray[np.floating]
    scale: float
    signs: NDArray[np.uint64]


@dataclass(slots=True, eq=False)
class DenseLane:
    """Cosine search over the quantised vectors of an index; see `VectorLane`."""

    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    centre: NDArray[np.float32]
    sketch: NDArray[np.uint64]
    candidates: int
    spread: float | None = None
    _last: _Query | None = field(default=None, init=False)

    @classmethod
    def open(cls, files: IndexFiles) -> "DenseLane":
        """Memory-map the lane's files. Raises IndexUnusableError."""
        about, chunks = require_vectors(files), files.manifest.chunks
        lane = cls.map(files.layout, chunks, about["dimensions"], about["candidates"])
        return replace(lane, spread=about["spread"])

    @classmethod
    def map(cls, layout: IndexLayout, chunks: int, dimensions: int, candidates: int) -> "DenseLane":
        """Memory-map the vectors of `chunks` chunks; the first pass keeps `candidates`."""
        return cls(
            open_array(layout.vectors, np.int8, (chunks, dimensions)),
            open_array(layout.vector_scales, np.float32, (chunks,)),
            open_array(layout.vector_centre, np.float32, (dimensions,)),
            open_array(layout.sketch, np.uint64, (-(-dimensions // 64), chunks)),
            candidates,
        )

    @stage("semantic")
    def search(self, vector: Vector, count: int, allowed: Mask | None = None) -> LaneHits:
        """Find the `count` chunks of highest cosine; see `VectorLane`."""
        query = self._prepare(vector)
        pool = None if allowed is None else np.flatnonzero(allowed)
        size = len(self.scales) if pool is None else len(pool)
        depth = max(self.candidates, 2 * count)
        if size > max(EXACT_SCAN_LIMIT, depth):
            pool = self._nearest(query, depth, pool)
        elif pool is None:
            pool = np.arange(size)
        pool = pool[self.scales.take(pool) > 0]
        return best(pool, self._cosines(query.values, query.scale, pool), count)

    def scores(self, vector: Vector, chunks: Numbers) -> Scores:
        """Return the exact cosines (m,) of the unit `vector` (d,) to chunks (m,)."""
        query = self._prepare(vector)
        return self._cosines(query.values, query.scale, chunks)

    def distance(self, vector: Vector) -> float | None:
        """Return the distance of the unit `vector` (d,) from the mean; see `distance_from`."""
        return distance_from(self.centre, self.spread, vector)

    def _prepare(self, vector: Vector) -> _Query:
        # Cached, because after `search`, the keyword lane's hits are scored for the same vector.
        last = self._last
        if last is not None and last.vector is vector:
            return last
        # The same as `quantise`, which is slow for a single vector.
        largest = np.abs(vector).max() or np.float32(1)
        values = np.rint(vector / largest * np.float32(127)).astype(exact_type(len(vector)))
        length = math.sqrt(float(np.vecdot(values, values))) or 1.0
        signs = pack_signs(vector, self.centre)
        self._last = query = _Query(vector, values, float(np.float32(1 / length)), signs)
        return query

    def _cosines(self, values: NDArray[np.floating], scale: float, chunks: Numbers) -> Scores:
        products = np.empty(len(chunks), dtype=values.dtype)
        for start in range(0, len(chunks), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            rows = self.vectors.take(chunks[part], axis=0).astype(values.dtype)
            # Row by row, which stays in this thread. A matrix product would wake BLAS's thread
            # pool, which costs more than the product on a busy machine.
            np.vecdot(rows, values, out=products[part])
        return products.astype(np.float64) * self.scales.take(chunks) * scale

    def _nearest(self, query: _Query, depth: int, pool: Numbers | None) -> Numbers:
        if pool is not None and PICKED_SHARE * len(pool) <= len(self.scales):
            return pool[least(hamming(self.sketch.take(pool, axis=1), query.signs), depth)]
        # Reading all rows in sequence is faster than gathering many.
        is_large = len(self.sketch) > 1 and len(self.scales) > HALVED_SIZE * depth
        first, *others = order_halves(query.vector, self.centre) if is_large else [slice(None)]
        distances = hamming(self.sketch[first], query.signs[first])
        near = distances if pool is None else distances.take(pool)
        found = least(near, depth, PASSING if is_large else 1)
        found = found if pool is None else pool[found]
        for other in others:
            further = hamming(self.sketch[other].take(found, axis=1), query.signs[other])
            found = found[least(np.add(distances.take(found), further, dtype=np.uint16), depth)]
        return found


def least(distances: NDArray[np.unsignedinteger], depth: int, step: int = 1) -> Numbers:
    """Return the positions of the smallest distances, about `depth * step` of them."""
    if step == 1 and len(distances) > SAMPLED_SHARE * depth:
        # A sample gives an upper bound, so that only a few distances have to be counted.
        sampled = depth // SAMPLE_STEP
        enough = sampled + 4 * math.isqrt(sampled) + 4
        near = np.flatnonzero(distances <= _limit(distances[::SAMPLE_STEP], enough))
        if len(near) >= depth:
            own = distances.take(near)
            return near[own <= _limit(own, depth)]
    return np.flatnonzero(distances <= _limit(distances[::step], depth))


def _limit(distances: NDArray[np.unsignedinteger], count: int) -> int:
    """Return the smallest distance within which there are `count` chunks, or all."""
    # There are few distinct values, so counting takes half as long as partitioning.
    within = np.bincount(distances).cumsum()
    # With a Python int, NumPy need not widen distances that are compared with it.
    return int(within.searchsorted(count))


def hamming(sketch: NDArray[np.uint64], signs: NDArray[np.uint64]) -> NDArray[np.unsignedinteger]:
    """Return the number (n,) of bits in which sketches (words, n) and `signs` (words,) differ."""
    # Summing in bytes takes two thirds of the time of wider integers. A sum of 256 overflows to 0,
    # which the exact cosines correct later.
    distances = np.empty(sketch.shape[1], dtype=np.min_scalar_type(64 * len(sketch) - 1))
    size = WORDS_AT_ONCE // len(sketch)
    for start in range(0, len(distances), size):
        part = slice(start, start + size)
        differing = np.bitwise_count(sketch[:, part] ^ signs[:, np.newaxis])
        differing.sum(axis=0, dtype=distances.dtype, out=distances[part])
    return distances


def order_halves(vector: Vector, centre: Vector) -> tuple[slice, slice]:
    """Return slices of a sketch's halves, first where a vector is farther from `centre`."""
    half = -(-len(vector) // 64) // 2
    apart = np.square(vector - centre)
    halves = slice(half), slice(half, None)
    return halves if apart[: 64 * half].sum() > apart.sum() / 2 else halves[::-1]


def pack_signs(vectors: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return sign sketches (ceil(d / 64), n) of vectors (n, d), or of one (d,), around a centre."""
    bits = np.zeros((*vectors.shape[:-1], -(-len(centre) // 64) * 64), dtype=np.bool_)
    np.greater(vectors, centre, out=bits[..., : len(centre)])
    return np.ascontiguousarray(np.packbits(bits, axis=-1, bitorder="little").view("<u8").T)


def exact_type(dimensions: int) -> type[np.floating]:
    """Return the float type in which dot products of two int8 rows are exact."""
    return np.float32 if dimensions <= _FLOAT32_DIMENSIONS else np.float64
