"""Feedback: candidates that are near to the best one score higher.

Rocchio (1971, Relevance feedback in information retrieval) moves the query towards its results.
Here the query and its cosines stay as they are; the best result, assumed to be relevant, multiplies
the scores of the others by their nearness to it.
"""

import numpy as np

from ...index.reader import Index
from ..candidates import Candidates, stage


@stage("feedback")
def boost_feedback(candidates: Candidates, index: Index, *, gain: float) -> Candidates:
    """Multiply each score by 1 + `gain` * max(0, cosine to the best candidate).

    See `boosted`. The best candidate has cosine 1 to itself, so it stays the best.
    """
    if not len(candidates.chunks):
        return candidates
    best = int(candidates.chunks[candidates.best_places()[0]])
    nearness = np.maximum(index.dense_lane.nearness(best, candidates.chunks), 0.0)
    return candidates.boosted("feedback", 1.0 + gain * nearness, 1.0 + gain)
