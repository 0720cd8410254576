"""The dense lane over a few chunks, with numbers computed by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from workshop.index.protocols import Vector
from workshop.retrieval.dense_lane import (
    HALVED_SIZE,
    PASSING,
    WORDS_AT_ONCE,
    DenseLane,
    exact_type,
    hamming,
    order_halves,
    pack_signs,
)


def dense_lane(vectors: Sequence[Sequence[float] | Vector], candidates: int = 10) -> DenseLane:
    """Return a lane of vectors, which are normalised first."""
    given = np.array(vectors, dtype=np.float32)
    largest = np.abs(given).max(axis=1, keepdims=True)
    rows = np.rint(127 * given / np.maximum(largest, 1e-9)).astype(np.int8)
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
    scales = np.where(lengths > 0, 1 / np.maximum(lengths, 1), 0).astype(np.float32)
    centre = np.zeros(rows.shape[1], dtype=np.float32)
    sketch = pack_signs(rows.astype(np.float32), centre)
    return DenseLane(rows, scales, centre, sketch, candidates)


def test_cosines() -> None:
    lane = dense_lane([(2, 0), (0, 0.5), (-1, 0), (0, 0), (3, 4)])
    assert lane.vectors.tolist() == [[127, 0], [0, 127], [-127, 0], [0, 0], [95, 127]]
    near = 95 / math.hypot(95, 127)
    hits = lane.search(np.array([1, 0], dtype=np.float32), 10)
    # The fourth chunk has no vector.
    assert hits.chunks.tolist() == [0, 4, 1, 2]
    assert hits.scores == pytest.approx([1, near, 0, -1], abs=1e-6)
    slanted = np.array([0.6, 0.8], dtype=np.float32)
    assert lane.scores(slanted, np.array([0, 4])) == pytest.approx([near, 1], abs=1e-6)
    assert lane.search(slanted, 1).chunks.tolist() == [4]
    allowed = np.array([False, True, True, True, False])
    assert lane.search(slanted, 10, allowed).chunks.tolist() == [1, 2]
    assert lane.scores(np.zeros(2, dtype=np.float32), np.array([0, 4])).tolist() == [0, 0]


def test_sums_of_products_are_exact() -> None:
    assert 127 * 127 * 1040 < 2**24 < 127 * 127 * 1041
    assert [exact_type(size) for size in (1040, 1041)] == [np.float32, np.float64]


def test_sketches_hold_the_signs_of_vectors() -> None:
    vectors = np.array([[1, -1, 0.5], [-1, 1, 2]], dtype=np.float32)
    centre = np.array([0, 0, 1], dtype=np.float32)
    assert pack_signs(vectors, centre).tolist() == [[0b001, 0b110]]
    for dimensions, words in ((64, [[2**64 - 1]]), (65, [[2**64 - 1], [1]])):
        ones, zero = np.ones((1, dimensions), np.float32), np.zeros(dimensions, np.float32)
        assert pack_signs(ones, zero).tolist() == words


@pytest.mark.parametrize(("size", "is_exact"), [(2000, True), (2001, False)])
def test_few_vectors_are_all_compared(size: int, is_exact: bool) -> None:
    # The query is near the corner of four octants, so each has some of its neighbours.
    query = np.array([1.0, 0.001, 0.001], dtype=np.float32)
    lane = dense_lane(np.random.default_rng(11).normal(size=(size, 3)).tolist(), candidates=1)
    everything = lane.scores(query, np.arange(size))
    expected = np.lexsort((np.arange(size), -everything))[:20]
    assert (lane.search(query, 20).chunks.tolist() == expected.tolist()) == is_exact


@pytest.mark.parametrize(("dimensions", "share"), [(64, 1.0), (100, 0.5), (100, 0.1)])
def test_ties_in_the_first_pass_are_all_rescored(dimensions: int, share: float) -> None:
    chooser = np.random.default_rng(9)
    count, depth = WORDS_AT_ONCE // 2 + 300, 400
    rows = chooser.integers(-127, 128, (count, dimensions), dtype=np.int8)
    scales = np.full(count, 0.01, dtype=np.float32)
    centre = np.zeros(dimensions, dtype=np.float32)
    lane = DenseLane(rows, scales, centre, pack_signs(rows.astype(np.float32), centre), depth)
    allowed = chooser.random(count) < share
    query = chooser.normal(size=dimensions).astype(np.float32)

    distances = ((rows > 0) != (query > 0)).sum(axis=1)
    pool = np.flatnonzero(allowed)
    pool = pool[distances[pool] <= np.sort(distances[pool])[depth - 1]]
    cosines = lane.scores(query, pool)
    order = np.lexsort((pool, -cosines))[:30]
    hits = lane.search(query, 30, allowed if share < 1 else None)
    assert hits.chunks.tolist() == pool[order].tolist()
    assert hits.scores.tolist() == cosines[order].tolist()


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize(
    ("dimensions", "telling"), [(128, slice(64)), (128, slice(64, None)), (64, slice(64))]
)
def test_all_bits_are_compared_for_the_nearest_halves(
    dimensions: int, telling: slice, share: float
) -> None:
    chooser = np.random.default_rng(5)
    depth = 40
    count = HALVED_SIZE * depth + 1
    rows = chooser.integers(-127, 128, (count, dimensions), dtype=np.int8)
    scales = np.full(count, 0.01, dtype=np.float32)
    centre = np.zeros(dimensions, dtype=np.float32)
    lane = DenseLane(rows, scales, centre, pack_signs(rows.astype(np.float32), centre), depth)
    query = chooser.normal(size=dimensions).astype(np.float32)
    query[telling] *= 3
    allowed = chooser.random(count) < share
    pool = np.flatnonzero(allowed)

    differs = (rows > 0) != (query > 0)
    half = differs[pool, telling].sum(axis=1)
    pool = pool[half <= np.sort(half[::PASSING])[depth - 1]]
    assert depth < len(pool) < count / 4
    distances = differs[pool].sum(axis=1)
    pool = pool[distances <= np.sort(distances)[depth - 1]]
    cosines = lane.scores(query, pool)
    order = np.lexsort((pool, -cosines))[:5]
    hits = lane.search(query, 5, allowed if share < 1 else None)
    assert hits.chunks.tolist() == pool[order].tolist()
    assert hits.scores.tolist() == cosines[order].tolist()


@pytest.mark.parametrize(("words", "opposite"), [(1, 64), (3, 192), (4, 0), (5, 320)])
def test_differing_bits_are_counted(words: int, opposite: int) -> None:
    chooser = np.random.default_rng(6)
    rows = chooser.random((40, 64 * words)) < 0.5
    query = chooser.random(64 * words) < 0.5
    rows[0], rows[1] = query, ~query
    zero = np.zeros(64 * words, dtype=np.float32)
    signs = pack_signs(query[np.newaxis].astype(np.float32), zero)[:, 0]
    found = hamming(pack_signs(rows.astype(np.float32), zero), signs)
    assert found[:2].tolist() == [0, opposite]
    assert found[2:].tolist() == (rows[2:] != query).sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("dimensions", "furthest", "words"),
    [
        (256, 3, (slice(2), slice(2, None))),
        (256, 130, (slice(2, None), slice(2))),
        (100, 70, (slice(1, None), slice(1))),
        (64, 5, (slice(0, None), slice(0))),
    ],
)
def test_the_half_farthest_from_the_centre_comes_first(
    dimensions: int, furthest: int, words: tuple[slice, slice]
) -> None:
    centre = np.full(dimensions, 0.5, dtype=np.float32)
    query = centre.copy()
    query[furthest] -= 1
    assert order_halves(query, centre) == words


@pytest.mark.parametrize("size", [200, 2_000, 2_001, 5_120, 5_121, 9_000])
@pytest.mark.parametrize("dimensions", [64, 128])
def test_the_nearest_are_those_of_an_exact_scan(dimensions: int, size: int) -> None:
    chooser = np.random.default_rng(size)
    for share in (None, 1.0, 0.5, 0.1):
        allowed = None if share is None else chooser.random(size) < share
        query, *rows = chooser.standard_normal((size + 1, dimensions), dtype=np.float32)
        # Ten vectors are close, and all others so far away that no pass can confuse them.
        near = chooser.permutation(size if allowed is None else np.flatnonzero(allowed))[:10]
        for place, chunk in enumerate(near, start=1):
            rows[chunk] = query + 0.1 * place * rows[chunk]
        lane = dense_lane(rows, candidates=10)

        cosines = lane.vectors[near] @ (query / np.linalg.norm(query)) * lane.scales[near]
        order = np.argsort(-cosines)[:5]
        hits = lane.search(query, 5, allowed)
        assert hits.chunks.tolist() == near[order].tolist()
        assert hits.scores == pytest.approx(cosines[order], abs=0.01)
