"""The overlap of two rankings, corrected for chance."""

from pathlib import Path

import numpy as np
import pytest
from small_indexes import Note, write_notes

from foundry.embedding.embedder import Vectors
from foundry.indexing.dense.overlap import RankingOverlap
from foundry.indexing.versions import open_index


def measure(folder: Path, chunks: int) -> tuple[RankingOverlap, int]:
    """Return the measure of an index with this many chunks, and the width of its vectors."""
    words = ("valve", "pump", "oil", "brake", "wheel", "lamp", "fuel", "cable", "bolt")
    notes = [
        Note(f"Note {n}", (f"{words[n % 9]} and {words[n // 9]} are kept",)) for n in range(chunks)
    ]
    index = open_index(write_notes(folder / "index", notes), vectors=True)
    manifest = index.manifest
    assert manifest.dense
    shape = (manifest.chunks, manifest.dense["dimensions"])
    counts = manifest.terms, manifest.postings
    return RankingOverlap(index.layout, index.tokenizer, lambda: counts, shape), shape[1]


def random_vectors(count: int, dimensions: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("chunks", [27, 80])
def test_overlap_by_chance_counts_as_zero(tmp_path: Path, chunks: int) -> None:
    overlap, dimensions = measure(tmp_path, chunks)
    queries = ["nothing known"] * 400
    first, second = (random_vectors(400, dimensions, seed) for seed in (1, 2))
    assert overlap(queries, first, second) == pytest.approx(0, abs=0.1)
    assert overlap(queries, first, first) == 1


def test_ten_chunks_are_too_few_to_measure(tmp_path: Path) -> None:
    overlap, dimensions = measure(tmp_path, 10)
    vectors = random_vectors(2, dimensions, 1)
    assert overlap(["one", "two"], vectors, vectors[::-1]) is None
    assert overlap([], vectors[:0], vectors[:0]) is None
