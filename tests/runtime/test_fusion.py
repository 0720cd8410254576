"""Fusion and boosts by numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.retrieval.candidates import Candidates, candidate_count
from foundry.runtime.retrieval.fusion.linear import fuse_linear
from foundry.runtime.retrieval.fusion.rrf import fuse_rrf


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


@given(
    ranks=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=1),
    weights=st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)).filter(lambda pair: sum(pair) > 0),
    k=st.integers(1, 10_000),
)
def test_rrf_scores_are_shares_of_the_largest(
    ranks: list[tuple[int, int]], weights: tuple[float, float], k: int
) -> None:
    semantic, keyword = (np.array(lane, np.int64) for lane in zip(*[*ranks, (1, 1)], strict=True))
    lanes = np.zeros(len(semantic))
    found = Candidates(np.arange(len(lanes)), lanes, lanes, semantic, keyword, lanes)
    scores = fuse_rrf(found, *weights, k=k).scores
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[-1] == 1


def test_lanes_deliver_more_than_is_asked_for() -> None:
    assert [candidate_count(count) for count in (1, 50, 51, 100)] == [100, 100, 102, 200]


def test_ranks_3_and_9_sum_as_published() -> None:
    semantic, keyword = np.zeros(1), np.zeros(1)
    found = Candidates(
        np.zeros(1, np.int64), semantic, keyword, np.array([3]), np.array([9]), np.zeros(1)
    )
    # 1/63 + 1/69 = 0.0304 with weights of 1, of the 2/61 that there can be.
    assert fuse_rrf(found, 1, 1, k=60).scores == pytest.approx([0.0304 / (2 / 61)], abs=2e-3)
