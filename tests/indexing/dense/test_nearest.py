"""The nearest vectors, found in parts, are the ones with the highest cosines."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from foundry.indexing.dense.nearest import Nearest
from foundry.indexing.dense.vectors import RECALL_DEPTH, VectorsBuilder, WrittenVectors
from foundry.runtime.index.layout import IndexLayout

DIMENSIONS = 32


def written(folder: Path, vectors: NDArray[np.float32]) -> WrittenVectors:
    """Write vectors (n, d) as an index has them."""
    folder.mkdir()
    builder = VectorsBuilder(IndexLayout(folder), DIMENSIONS)
    builder.add(vectors)
    return builder.write()


@pytest.mark.parametrize(("count", "block"), [(400, 64), (400, 1_000), (15, 4)])
def test_the_nearest_have_the_highest_cosines(
    count: int, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foundry.indexing.dense.vectors.BLOCK", block)
    chooser = np.random.default_rng(7)
    vectors = chooser.standard_normal((count, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = chooser.standard_normal((20, DIMENSIONS)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    index = written(tmp_path / "index", vectors)
    found, cosines = index.nearest(queries)
    exact = queries @ index.block(0, count).T
    assert np.array_equal(found, np.argsort(-exact, axis=1, kind="stable")[:, :RECALL_DEPTH])
    np.testing.assert_allclose(cosines, -np.sort(-exact, axis=1)[:, :RECALL_DEPTH], rtol=1e-5)


def test_opposite_vectors_are_found_if_there_are_no_others(tmp_path: Path) -> None:
    vectors = np.eye(DIMENSIONS, dtype=np.float32)[:5]
    found, cosines = written(tmp_path / "index", vectors).nearest(-vectors[:1])
    assert sorted(found[0].tolist()) == [0, 1, 2, 3, 4]
    assert cosines[0].min() == pytest.approx(-1)


def test_equally_near_vectors_are_chosen_by_number() -> None:
    known = Nearest(np.array([[4, 2], [0, 1]]), np.array([[0.5, 0.25], [0.75, 0.5]], np.float32))
    cosines = np.array([[0.5, 0.75, 0.125], [0.5, 0.25, 0.5]], np.float32)
    chunks, values = known.join(7, cosines)
    assert chunks.tolist() == [[8, 4], [0, 1]]
    assert values.tolist() == [[0.75, 0.5], [0.75, 0.5]]
