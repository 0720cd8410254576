"""The nearest vectors to queries are the same whether or not an index before knew some of them."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from foundry.indexing.dense.nearest import UNKNOWN, Nearest, PreviousNearest
from foundry.indexing.dense.vectors import RECALL_DEPTH, VectorsBuilder, WrittenVectors
from foundry.indexing.handover import Handover
from foundry.runtime.index.layout import IndexLayout

DIMENSIONS = 32


def written(folder: Path, vectors: NDArray[np.float32]) -> WrittenVectors:
    """Write vectors (n, d) as those of an index."""
    folder.mkdir()
    builder = VectorsBuilder(IndexLayout(folder), DIMENSIONS)
    builder.add(vectors)
    return builder.write()


def by_number(found: Nearest) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the nearest vectors to each query and their cosines, in the order of their numbers."""
    order = np.argsort(found.chunks, axis=1)
    chunks, cosines = found
    return np.take_along_axis(chunks, order, axis=1), np.take_along_axis(cosines, order, axis=1)


@pytest.mark.parametrize(("before", "gone", "added"), [(400, 30, 50), (400, 0, 1), (15, 0, 40)])
def test_what_is_known_of_an_index_before_changes_nothing(
    tmp_path: Path, before: int, gone: int, added: int
) -> None:
    chooser = np.random.default_rng(7)
    vectors = chooser.standard_normal((before + added, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = chooser.standard_normal((20, DIMENSIONS)).astype(np.float32)
    queries[0] = vectors[0]
    handover = Handover(tmp_path)
    written(tmp_path / "before", vectors[:before]).nearest(queries[:15]).hand_over(
        handover, queries[:15]
    )
    # The first ones have gone, and the added ones stand in the middle.
    middle = before // 2
    order = [*range(gone, middle), *range(before, before + added), *range(middle, before)]
    renumbered = np.full(before, -1)
    renumbered[[number for number in order if number < before]] = [
        place for place, number in enumerate(order) if number < before
    ]
    now = written(tmp_path / "now", vectors[order])
    known = PreviousNearest(handover, renumbered, len(order))
    assert known.added == [[middle - gone, middle - gone + added]]
    found = known.find(queries, RECALL_DEPTH).chunks[:, 0] != UNKNOWN
    assert not found[15:].any()
    assert found[:15].any() == (before >= RECALL_DEPTH)
    # None of them is looked for again unless one has gone.
    assert found[:15].all() == (before >= RECALL_DEPTH and not gone)
    (chunks, cosines), (expected_chunks, expected_cosines) = (
        by_number(now.nearest(queries, each)) for each in (known, None)
    )
    assert np.array_equal(chunks, expected_chunks)
    np.testing.assert_allclose(cosines, expected_cosines, rtol=1e-5)


def test_the_opposite_of_a_query_is_nearer_than_nothing(tmp_path: Path) -> None:
    vectors = np.eye(DIMENSIONS, dtype=np.float32)[:5]
    found, cosines = written(tmp_path / "index", vectors).nearest(-vectors[:1])
    assert sorted(found[0].tolist()) == [0, 1, 2, 3, 4]
    assert cosines[0].min() == pytest.approx(-1)


def test_of_equally_near_vectors_those_of_lower_numbers_stay() -> None:
    known = Nearest(np.array([[4, 2], [0, 1]]), np.array([[0.5, 0.25], [0.75, 0.5]], np.float32))
    cosines = np.array([[0.5, 0.75, 0.125], [0.5, 0.25, 0.5]], np.float32)
    chunks, values = known.join(7, cosines)
    assert chunks.tolist() == [[8, 4], [0, 1]]
    assert values.tolist() == [[0.75, 0.5], [0.75, 0.5]]
