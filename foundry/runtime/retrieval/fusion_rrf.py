"""Reciprocal rank fusion.

    score = (k + 1) * sum over lanes of weight / (k + rank), ranks from 1, weights normalised to 1

(Cormack, Clarke and Buettcher 2009, Reciprocal Rank Fusion outperforms Condorcet and individual
Rank Learning Methods.) A lane that did not find a chunk adds nothing to its score. The factor k + 1
only scales scores to [0, 1]: a chunk that is first in both lanes scores 1. If the best keyword hit
scores less than 1 (see `LaneHits`), the weight of the keyword lane shrinks in proportion.
"""

import numpy as np
from numpy.typing import NDArray

from .candidates import Candidates


def fuse_rrf(
    candidates: Candidates, semantic_weight: float, keyword_weight: float, *, k: int
) -> Candidates:
    """Score candidates by rank; weights are not negative and not both 0, and `k` is positive."""
    assert candidates.keyword is not None
    worth = min(1.0, float(candidates.keyword.max(initial=0.0)))
    scores = semantic_weight * _reciprocal(candidates.semantic_ranks, k)
    scores += keyword_weight * worth * _reciprocal(candidates.keyword_ranks, k)
    return candidates.with_scores(scores / (semantic_weight + keyword_weight))


def _reciprocal(ranks: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    return np.where(ranks > 0, (k + 1) / (k + ranks), 0.0)
