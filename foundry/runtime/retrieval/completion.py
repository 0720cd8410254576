"""Joining both lanes: every candidate gets both exact scores."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .candidates import Candidates, lane_ranks
from .lanes import LaneHits, TermLane, VectorLane, first_of_equals


def complete_lanes(
    keyword_lane: TermLane,
    dense_lane: VectorLane,
    terms: Sequence[str],
    vector: NDArray[np.float32],
    keyword: LaneHits,
    semantic: LaneHits,
) -> Candidates:
    """Join the lanes' hits, with both exact scores for each.

    A chunk's score then never depends on how deep a lane was read. The scores are 0 until fused.
    """
    found = np.sort(np.concatenate([keyword.chunks, semantic.chunks]))
    chunks = found[first_of_equals(found)]
    return Candidates(
        chunks=chunks,
        semantic=np.maximum(dense_lane.scores(vector, chunks), 0.0),
        keyword=keyword_lane.scores(terms, chunks) / keyword.full_score,
        semantic_ranks=lane_ranks(chunks, semantic),
        keyword_ranks=lane_ranks(chunks, keyword),
        scores=np.zeros(len(chunks)),
        keyword_worth=keyword.worth,
    )


def semantic_candidates(semantic: LaneHits) -> Candidates:
    """The dense lane's hits, scored by cosine alone."""
    order = np.argsort(semantic.chunks)
    chunks = semantic.chunks[order]
    scores = np.maximum(semantic.scores[order], 0.0)
    return Candidates(
        chunks=chunks,
        semantic=scores,
        keyword=None,
        semantic_ranks=lane_ranks(chunks, semantic),
        keyword_ranks=np.zeros(len(chunks), dtype=np.int64),
        scores=np.zeros(len(chunks)),
    ).with_scores(scores)
