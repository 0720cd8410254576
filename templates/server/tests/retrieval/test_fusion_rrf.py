"""Reciprocal rank fusion, with numbers computed by hand."""

import pytest
from samples import sample_candidates

from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.fusion_rrf import fuse_rrf


def candidates() -> Candidates:
    return sample_candidates(
        [0, 0, 0],
        semantic=[0.8, 0.5, 0.0],
        keyword=[0.0, 0.5, 1.0],
        semantic_ranks=[3, 1, 0],
        keyword_ranks=[0, 9, 1],
    )


def test_rrf() -> None:
    fused = fuse_rrf(candidates(), 1, 1, k=60)
    assert fused.scores == pytest.approx(
        [(61 / 63) / 2, (61 / 61 + 61 / 69) / 2, (61 / 61) / 2], abs=1e-6
    )


def test_rrf_weights() -> None:
    fused = fuse_rrf(candidates(), 0.7, 0.3, k=60)
    assert fused.scores == pytest.approx([0.7 * 61 / 63, 0.7 + 0.3 * 61 / 69, 0.3], abs=1e-6)


def test_rrf_with_another_constant() -> None:
    fused = fuse_rrf(candidates(), 1, 3, k=2)
    assert fused.scores == pytest.approx(
        [(3 / 5) / 4, (3 / 3 + 3 * 3 / 11) / 4, 3 * (3 / 3) / 4], abs=1e-6
    )


def test_ranks_3_and_9_sum_as_published() -> None:
    found = sample_candidates(
        [0], semantic=[0.0], keyword=[1.0], semantic_ranks=[3], keyword_ranks=[9]
    )
    # 1/63 + 1/69 = 0.0304 with weights of 1, out of a maximum of 2/61.
    assert fuse_rrf(found, 1, 1, k=60).scores == pytest.approx([0.0304 / (2 / 61)], abs=2e-3)
