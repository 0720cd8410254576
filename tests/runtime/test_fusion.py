"""Fusion and boosts by numbers worked out by hand."""

import numpy as np
import pytest

from foundry.runtime.candidates import Candidates, candidate_count
from foundry.runtime.fusion_linear import fuse_linear
from foundry.runtime.fusion_rrf import fuse_rrf


def candidates() -> Candidates:
    return Candidates(
        chunks=np.array([4, 7, 9]),
        semantic=np.array([0.8, 0.5, 0.0]),
        keyword=np.array([0.0, 0.5, 1.0]),
        semantic_ranks=np.array([3, 1, 0]),
        keyword_ranks=np.array([0, 9, 1]),
        scores=np.zeros(3),
    )


def test_linear() -> None:
    fused = fuse_linear(candidates(), 0.7, 0.3)
    assert fused.scores == pytest.approx([0.56, 0.7 * 0.5 + 0.3 * 0.5, 0.3])


def test_linear_weights_need_not_sum_to_one() -> None:
    assert fuse_linear(candidates(), 7, 3).scores == pytest.approx(
        fuse_linear(candidates(), 0.7, 0.3).scores
    )


def test_rrf() -> None:
    fused = fuse_rrf(candidates(), 1, 1)
    assert fused.scores == pytest.approx(
        [(1 / 63) / 2, (1 / 61 + 1 / 69) / 2, (1 / 61) / 2], abs=1e-6
    )


def test_rrf_weights() -> None:
    fused = fuse_rrf(candidates(), 0.7, 0.3)
    assert fused.scores == pytest.approx([0.7 / 63, 0.7 / 61 + 0.3 / 69, 0.3 / 61], abs=1e-6)


def test_lanes_deliver_more_than_is_asked_for() -> None:
    assert candidate_count(1) >= 10
    assert candidate_count(100) == 200


def test_ranks_3_and_9_sum_as_published() -> None:
    semantic, keyword = np.zeros(1), np.zeros(1)
    found = Candidates(
        np.zeros(1, np.int64), semantic, keyword, np.array([3]), np.array([9]), np.zeros(1)
    )
    # 1/63 + 1/69 = 0.0304 with weights of 1; here they are made to sum to 1.
    assert fuse_rrf(found, 1, 1).scores == pytest.approx([0.0304 / 2], abs=5e-5)
