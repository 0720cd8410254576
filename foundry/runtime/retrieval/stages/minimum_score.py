"""Minimum scores: drops weak candidates, even if none remain."""

import numpy as np
from numpy.typing import NDArray

from ...index.records import count_of
from ..candidates import Candidates
from ..journal import Journal

STAGE = "minimum_score"


def require_lane_score(
    candidates: Candidates,
    journal: Journal,
    *,
    semantic: float | None = None,
    keyword: float | None = None,
) -> Candidates:
    """Keep the candidates that reach the minimum score of at least one lane.

    The semantic score is a cosine, comparable between queries; the keyword score is relative to the
    best hit's, which is 1 unless an identifier of the query is unknown. Lanes that were not
    searched or have no minimum are ignored. A candidate that has no score in one of the remaining
    lanes is kept.
    """
    lanes = [(candidates.semantic, semantic), (candidates.keyword, keyword)]
    passed = [
        (scores >= minimum) | np.isnan(scores)
        for scores, minimum in lanes
        if scores is not None and minimum is not None
    ]
    if not passed:
        return candidates
    return _keep(candidates, journal, np.logical_or.reduce(passed))


def require_score(candidates: Candidates, journal: Journal, *, minimum: float) -> Candidates:
    """Drop the candidates whose score is below `minimum`."""
    return _keep(candidates, journal, candidates.scores >= minimum)


def _keep(candidates: Candidates, journal: Journal, kept: NDArray[np.bool_]) -> Candidates:
    """Return the `kept` candidates; note how many were dropped and, if all, their best score."""
    dropped = int((~kept).sum())
    if dropped:
        dropped += journal.stages.get(STAGE, {}).get("dropped", 0)
        sentence = f"Left out {count_of(dropped, 'passage')} below the minimum score"
        if kept.any():
            journal.note(STAGE, f"{sentence}.", dropped=dropped)
        else:
            best = float(candidates.scores.max())
            journal.note(
                STAGE, f"{sentence}; the best has {best:.2f}.", dropped=dropped, best_dropped=best
            )
    return candidates.at(np.flatnonzero(kept))
