"""Pseudo-relevance feedback: candidates that are close to the best one score higher.

Rocchio (1971, Relevance feedback in information retrieval) moves the query towards its results.
Here the query and its cosines do not change; the best result is assumed to be relevant, and the
scores of the others are multiplied by their similarity to it.
"""

import numpy as np

from ...index.reader import Index
from ..candidates import Candidates, stage


@stage("feedback")
def boost_feedback(candidates: Candidates, index: Index, *, gain: float) -> Candidates:
    """Multiply each score by 1 + `gain` * max(0, cosine to the best candidate).

    See `boosted`. The best candidate has cosine 1 with itself, so it remains the best.
    """
    if not len(candidates.chunks):
        return candidates
    best = int(candidates.chunks[candidates.best_places()[0]])
    nearness = np.maximum(index.dense_lane.nearness(best, candidates.chunks), 0.0)
    return candidates.boosted("feedback", 1.0 + gain * nearness, 1.0 + gain)
