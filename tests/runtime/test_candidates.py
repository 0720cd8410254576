"""Changes that stages make to candidates, with numbers computed by hand."""

import numpy as np

from foundry.runtime.retrieval.candidates import (
    Candidates,
)
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.minimum_score import require_score


def candidates(*scores: float) -> Candidates:
    count = len(scores)
    ranks = np.arange(1, count + 1)
    values = np.array(scores)
    return Candidates(10 * ranks, values / 2, values / 4, ranks, ranks[::-1], values)


def test_remaining_candidates_keep_all_their_fields() -> None:
    whole = candidates(0.8, 0.5, 0.9).boosted("age", np.array([1.0, 0.5, 0.75]))
    kept = require_score(whole, Journal(), minimum=0.5)
    assert kept.chunks.tolist() == [10, 30]
    assert kept.semantic is not None and kept.semantic.tolist() == [0.4, 0.45]
    assert kept.keyword is not None and kept.keyword.tolist() == [0.2, 0.225]
    assert kept.semantic_ranks.tolist() == [1, 3]
    assert kept.keyword_ranks.tolist() == [3, 1]
    assert kept.scores.tolist() == [0.8, 0.675]
    assert kept.boosts["age"].tolist() == [1.0, 0.75]
    assert kept.rerank is None


def test_scores_of_missing_lanes_stay_missing() -> None:
    ranks, scores = np.array([1, 2]), np.array([0.25, 0.5])
    given = np.array([np.nan, 0.75])
    found = Candidates(ranks, None, None, ranks, ranks, scores, {}, given)
    kept = require_score(found, Journal(), minimum=0.3)
    assert kept.semantic is None and kept.keyword is None
    assert kept.rerank is not None and kept.rerank.tolist() == [0.75]
