"""Reciprocal rank fusion.

    score = sum over lanes of weight / (60 + rank), ranks from 1, weights made to sum to 1

(Cormack, Clarke and Buettcher 2009, Reciprocal Rank Fusion outperforms Condorcet and individual
Rank Learning Methods.) A lane that did not deliver a chunk adds nothing to its score.
"""

import numpy as np
from numpy.typing import NDArray

from .candidates import Candidates

RANK_CONSTANT = 60


def fuse_rrf(candidates: Candidates, semantic_weight: float, keyword_weight: float) -> Candidates:
    """Score candidates by their ranks; weights are not negative and not both 0."""
    scores = semantic_weight * _reciprocal(candidates.semantic_ranks)
    scores += keyword_weight * _reciprocal(candidates.keyword_ranks)
    return candidates.with_scores(scores / (semantic_weight + keyword_weight))


def _reciprocal(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(ranks > 0, 1.0 / (RANK_CONSTANT + ranks), 0.0)
