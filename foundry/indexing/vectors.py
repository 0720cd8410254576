"""Builds the dense lane's files: quantised vectors, sign sketch, and the depth it must be read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import write_array
from foundry.runtime.dense_lane import pack_signs, quantise
from foundry.runtime.layout import IndexLayout

RECALL_DEPTH = 20
TARGET_RECALL = 0.99
MIN_CANDIDATES = 200
CANDIDATE_STEP = 50
BLOCK = 65_536
"""Rows worked on at a time, which bounds the memory of a pass over all vectors."""


@dataclass(frozen=True, slots=True)
class SketchDepth:
    """How many candidates the sketch must deliver, and the recall@20 that this reached."""

    candidates: int
    recall: float


class VectorsBuilder:
    """Collects embeddings, quantised as they come."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._rows: list[NDArray[np.int8]] = []
        self._scales: list[NDArray[np.float32]] = []

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Take the next chunks' embeddings (n, d); a zero row stands for no embedding."""
        self.add_rows(*quantise(vectors))

    def add_rows(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Take the next chunks' embeddings as they are stored: `rows` (n, d), `scales` (n,)."""
        self._rows.append(rows)
        self._scales.append(scales)

    def write(self, layout: IndexLayout) -> "WrittenVectors":
        """Write the files."""
        rows = np.concatenate([np.zeros((0, self.dimensions), dtype=np.int8), *self._rows])
        scales = np.concatenate([np.zeros(0, dtype=np.float32), *self._scales])
        centre = _centre(rows, scales)
        sketch = np.concatenate(
            [
                np.zeros((-(-self.dimensions // 64), 0), dtype=np.uint64),
                *(
                    pack_signs(_floats(rows[start:end], scales[start:end]), centre)
                    for start, end in _blocks(len(rows))
                ),
            ],
            axis=1,
        )
        write_array(layout.vectors, rows)
        write_array(layout.vector_scales, scales)
        write_array(layout.vector_centre, centre)
        write_array(layout.sketch, sketch)
        return WrittenVectors(rows, scales, centre, sketch)


@dataclass(frozen=True, slots=True)
class WrittenVectors:
    """What was written: `rows` (n, d), `scales` (n,), `centre` (d,) and `sketch` (words, n)."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    centre: NDArray[np.float32]
    sketch: NDArray[np.uint64]

    def measure(self, queries: NDArray[np.float32]) -> SketchDepth:
        """How deep the sketch must be read for `queries` (q, d)."""
        return measure_sketch(self.rows, self.scales, self.centre, self.sketch, queries)


def measure_sketch(
    rows: NDArray[np.int8],
    scales: NDArray[np.float32],
    centre: NDArray[np.float32],
    sketch: NDArray[np.uint64],
    queries: NDArray[np.float32],
) -> SketchDepth:
    """The least number of candidates that finds 99 % of the exact 20 nearest chunks.

    `rows` (n, d), `scales` (n,), `sketch` (words, n), `queries` (q, d). A neighbour is found by as
    many candidates as there are chunks nearer to the query by Hamming distance, and one.
    """
    depth = min(RECALL_DEPTH, len(rows))
    if depth == 0 or len(queries) == 0:
        return SketchDepth(MIN_CANDIDATES, 1.0)
    cosines = np.concatenate(
        [
            _floats(rows[start:end], scales[start:end]) @ queries.T
            for start, end in _blocks(len(rows))
        ]
    )
    nearest = np.argpartition(-cosines, depth - 1, axis=0)[:depth]
    signs = pack_signs(queries, centre)
    needed = []
    for number in range(len(queries)):
        distances = np.zeros(len(rows), dtype=np.uint16)
        for column, sign in zip(sketch, signs[:, number], strict=True):
            distances += np.bitwise_count(column ^ sign)
        nearer = np.cumsum(np.bincount(distances))
        neighbours = distances[nearest[:, number]].astype(np.int64)
        needed.append(np.where(neighbours > 0, nearer[neighbours - 1], 0) + 1)
    ranked = np.sort(np.concatenate(needed))
    least = int(ranked[min(len(ranked) - 1, int(np.ceil(len(ranked) * TARGET_RECALL)) - 1)])
    candidates = max(MIN_CANDIDATES, -(-least // CANDIDATE_STEP) * CANDIDATE_STEP)
    return SketchDepth(candidates, round(float(np.mean(ranked <= candidates)), 4))


def _centre(rows: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    # Scaled to integers first: their sum is exact, so it does not depend on the order of adding.
    total = np.zeros(rows.shape[1], dtype=np.int64)
    for start, end in _blocks(len(rows)):
        block = rows[start:end].astype(np.float64) * scales[start:end, np.newaxis]
        total += np.rint(block * 2.0**24).astype(np.int64).sum(axis=0)
    return (total / (2.0**24 * max(1, len(rows)))).astype(np.float32)


def _floats(rows: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows.astype(np.float32) * scales[:, np.newaxis]


def _blocks(count: int) -> Sequence[tuple[int, int]]:
    return [(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]
