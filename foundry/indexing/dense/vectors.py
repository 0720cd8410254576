"""Writes the files of the dense lane, and measures how many candidates its sketch must return."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.dense.calibration import depth_of, recall_of
from foundry.indexing.dense.nearest import Nearest
from foundry.indexing.files import ArrayFile, write_array
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.dense_lane import (
    HALVED_SIZE,
    PASSING,
    hamming,
    order_halves,
    pack_signs,
)
from foundry.runtime.retrieval.quantising import quantise

RECALL_DEPTH = 20
MIN_CANDIDATES = 200
CANDIDATE_STEP = 50
BLOCK = 8_192
"""Rows processed at a time, which limits the memory of a pass over all vectors."""

THREADS = 2
"""Threads of a pass over all vectors; NumPy releases the GIL. Each holds a block in memory."""

SKETCHED_ROWS = 1_024
"""Rows whose signs a thread computes at a time."""

FIRST_ROWS = 64
"""Rows in the first part that is searched for the nearest; later parts grow."""

CACHED_ROWS = 256
"""Rows that fit into a processor's cache as floats, where summing is ten times as fast."""


DEFAULT_BACKGROUND, MAX_BACKGROUND = 0.5, 0.9
LEAST_SPREAD = 0.03
"""Minimum spread; with a smaller one, small differences of similar texts would be exaggerated."""

SPREAD_CHUNKS = 50
"""With fewer vectors, the centre is not representative of the corpus."""

BACKGROUND_QUESTIONS = (
    Path(__file__).with_name("background_questions.txt").read_text(encoding="utf-8").splitlines()
)
"""Everyday questions; few corpora answer more than one or two of them."""

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class SketchDepth:
    """How many candidates the sketch must return, and the recall@20 reached, by query shape."""

    candidates: int
    recall: dict[str, float]


class VectorsBuilder:
    """Quantises and writes embeddings as they arrive. Always call `close`."""

    def __init__(self, layout: IndexLayout, dimensions: int) -> None:
        self.dimensions = dimensions
        self._layout = layout
        self._rows = ArrayFile(layout.vectors, np.int8, dimensions)
        self._scales: list[NDArray[np.float32]] = []

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Add the embeddings (n, d) of the next chunks; a chunk without one has a zero row."""
        self.add_rows(*quantise(vectors))

    def add_rows(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Add stored embeddings of the next chunks: `rows` (n, d), `scales` (n,)."""
        self._rows.append(rows)
        self._scales.append(scales)

    def close(self) -> None:
        """Close the file of rows; no more rows can be added."""
        self._rows.close()

    def write(self) -> "WrittenVectors":
        """Write the other files, once all chunks are added."""
        self.close()
        layout = self._layout
        scales = np.concatenate([np.zeros(0, dtype=np.float32), *self._scales])
        centre = _centre(self._rows, scales, self.dimensions)
        sketch = np.empty((-(-self.dimensions // 64), len(scales)), dtype=np.uint64)
        written = WrittenVectors(self.dimensions, self._rows, scales, centre, sketch)

        def sketch_block(start: int) -> tuple[float, float]:
            block = written.block(start, SKETCHED_ROWS)
            sketch[:, start : start + len(block)] = pack_signs(block, centre)
            products = (block @ centre).astype(np.float64)
            return float(products.sum()), float(np.square(products).sum())

        sums = _each_block(sketch_block, len(scales), SKETCHED_ROWS)
        total, squares = sum(one for one, _ in sums), sum(square for _, square in sums)
        write_array(layout.vector_scales, scales)
        write_array(layout.vector_centre, centre)
        write_array(layout.sketch, sketch)
        if (count := len(scales)) < SPREAD_CHUNKS:
            return written
        deviation = math.sqrt(max(0.0, squares / count - (total / count) ** 2))
        # Three digits: further digits of a matrix product differ between machines.
        return replace(written, spread=max(LEAST_SPREAD, round(deviation, 3)))


@dataclass(frozen=True, slots=True)
class WrittenVectors:
    """The files written for n vectors of d `dimensions`.

    `rows` (n, d) with `scales` (n,), their `centre` (d,), the `sketch` (words, n), and the `spread`
    of the vectors' products with the centre, which is None if there are few vectors.
    """

    dimensions: int
    rows: ArrayFile
    scales: NDArray[np.float32]
    centre: NDArray[np.float32]
    sketch: NDArray[np.uint64]
    spread: float | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n, d) of the vectors."""
        return len(self.scales), self.dimensions

    def block(self, start: int, count: int) -> NDArray[np.float32]:
        """Return up to `count` unit vectors (m, d), from number `start`."""
        rows = self.rows.read(start, count).astype(np.float32)
        rows *= self.scales[start : start + len(rows), None]
        return rows

    def nearest(self, queries: NDArray[np.float32]) -> Nearest:
        """Return the RECALL_DEPTH vectors with the highest cosine to each of `queries` (q, d)."""
        count = len(self.scales)
        nearest = Nearest.unknown(len(queries), min(RECALL_DEPTH, count))
        for start in range(0, count, BLOCK):
            found = (self.block(start, BLOCK) @ queries.T).T
            # Small parts come first: once good neighbours are known, few later vectors are nearer.
            part, size = 0, max(FIRST_ROWS, start)
            while part < found.shape[1]:
                nearest = nearest.join(start + part, found[:, part : part + size])
                part += size
                size = start + part
        return nearest

    def measure(
        self, queries: NDArray[np.float32], nearest: NDArray[np.int64], shapes: Sequence[str]
    ) -> SketchDepth:
        """Return the number of candidates that finds enough of the `nearest` (q, depth).

        It is the smallest such multiple of CANDIDATE_STEP that is at least MIN_CANDIDATES. `shapes`
        (q,) are the shapes of the queries (q, d); see `depth_of`. The rank of a neighbour is one
        more than the number of chunks nearer to the query by Hamming distance. If half of the bits
        are compared first, the neighbour must also be among the candidates that pass.
        """
        if not nearest.size:
            return SketchDepth(MIN_CANDIDATES, {})
        signs = pack_signs(queries, self.centre).T
        all_pass = len(self.scales) // HALVED_SIZE

        def count_needed(number: int) -> NDArray[np.int64]:
            query, sign, own = queries[number], signs[number], nearest[number]
            nearer = _count_nearer(hamming(self.sketch, sign), own)
            # In an index this small, a search compares all bits of all vectors.
            if all_pass < MIN_CANDIDATES:
                return nearer + 1
            half, _ = order_halves(query, self.centre)
            rough = _count_nearer(hamming(self.sketch[half], sign[half]), own) // PASSING
            return np.maximum(nearer, np.minimum(rough, all_pass)) + 1

        with ThreadPoolExecutor(THREADS) as threads:
            needed = np.stack([*threads.map(count_needed, range(len(queries)))])
        steps = -(-depth_of(needed, shapes) // CANDIDATE_STEP)
        candidates = max(MIN_CANDIDATES, steps * CANDIDATE_STEP)
        return SketchDepth(candidates, recall_of(needed, shapes, candidates))


def background_of(cosines: NDArray[np.float32]) -> float:
    """Return the median of the cosines (q,) between everyday questions and their nearest vectors.

    It is clipped to the range from 0 to MAX_BACKGROUND; without cosines, it is DEFAULT_BACKGROUND.
    """
    if not len(cosines):
        return DEFAULT_BACKGROUND
    # Two digits: further digits of a matrix product differ between machines.
    median = float(np.median(cosines))
    return round(min(max(median, 0.0), MAX_BACKGROUND), 2)


def _count_nearer(
    distances: NDArray[np.unsignedinteger], chunks: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for each of the given chunks (m,), how many `distances` (n,) are smaller."""
    own = distances[chunks].astype(np.int64)
    most = int(own.max(initial=1))
    # Counting only small distances takes a tenth of the time of counting all.
    up_to = np.cumsum(np.bincount(distances[distances < most], minlength=most))
    return np.where(own > 0, up_to[own - 1], 0)


def _each_block(work: Callable[[int], Outcome], count: int, rows: int) -> list[Outcome]:
    """Call `work` with the number of the first row of each block; return the results in order."""
    with ThreadPoolExecutor(THREADS) as threads:
        return [*threads.map(work, range(0, count, rows))]


def _centre(
    vectors: ArrayFile, scales: NDArray[np.float32], dimensions: int
) -> NDArray[np.float32]:
    # Integer scales: sums of a block stay below 2^53, so they are exact in any order.
    def sum_block(first: int) -> NDArray[np.int64]:
        rows, total = vectors.read(first, BLOCK), np.zeros(dimensions, dtype=np.int64)
        whole = np.rint(scales[first : first + len(rows)].astype(np.float64) * 2.0**36)
        for start in range(0, len(rows), CACHED_ROWS):
            part = slice(start, start + CACHED_ROWS)
            total += (whole[part] @ rows[part].astype(np.float64)).astype(np.int64)
        return total

    total = sum(
        _each_block(sum_block, len(scales), BLOCK), start=np.zeros(dimensions, dtype=np.int64)
    )
    return (total / (2.0**36 * max(1, len(scales)))).astype(np.float32)
