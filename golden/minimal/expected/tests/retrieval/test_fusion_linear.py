"""Linear fusion, by numbers worked out by hand."""

import numpy as np
import pytest

from workshop.retrieval.candidates import Candidates
from workshop.retrieval.fusion_linear import fuse_linear


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
