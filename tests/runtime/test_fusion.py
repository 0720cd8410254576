"""Properties of fused scores for any ranks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.fusion_rrf import fuse_rrf


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
    found = Candidates(np.arange(len(lanes)), lanes, lanes + 1, semantic, keyword, lanes)
    scores = fuse_rrf(found, *weights, k=k).scores
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[-1] == 1
