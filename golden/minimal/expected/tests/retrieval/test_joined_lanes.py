"""Lane hits joined into candidates, with numbers computed by hand."""

from typing import Any

import numpy as np

from workshop.index.protocols import LaneHits
from workshop.retrieval.candidates import Candidates
from workshop.retrieval.hybrid import by_meaning, join_lanes

COSINES = np.array([0.5, -0.25, 1.0, 0.75])
IMPACTS = np.array([0.0, 3.0, 1.0, 6.0])


def test_every_candidate_has_both_scores() -> None:
    found = join_lanes(
        LaneHits(np.array([3, 1]), np.array([6.0, 3.0]), missing_score=2.0),
        LaneHits(np.array([2, 3, 0]), np.array([1.0, 0.75, 0.5])),
        IMPACTS.__getitem__,
        COSINES.__getitem__,
    )
    assert found.chunks.tolist() == [0, 1, 2, 3]
    assert found.semantic is not None and found.keyword is not None
    # An opposite vector scores as little as an unrelated one.
    assert found.semantic.tolist() == [0.5, 0.0, 1.0, 0.75]
    assert found.keyword.tolist() == [0.0, 3 / 8, 1 / 8, 6 / 8]
    assert found.semantic_ranks.tolist() == [3, 0, 1, 2]
    assert found.keyword_ranks.tolist() == [0, 2, 0, 1]
    assert found.scores.tolist() == [0.0] * 4


def test_scores_of_the_search_are_not_computed_again() -> None:
    def fail(chunks: Any) -> Any:
        raise AssertionError(chunks)

    found = join_lanes(
        LaneHits(np.array([3, 1]), np.array([6.0, 3.0]), score_of=IMPACTS.__getitem__),
        LaneHits(np.array([2]), np.array([1.0])),
        fail,
        COSINES.__getitem__,
    )
    assert found.chunks.tolist() == [1, 2, 3]
    assert found.semantic is not None and found.keyword is not None
    assert found.semantic.tolist() == [0.0, 1.0, 0.75]
    assert found.keyword.tolist() == [3 / 6, 1 / 6, 1.0]
    assert found.keyword_ranks.tolist() == [2, 0, 1]


def test_candidates_of_one_lane() -> None:
    near = by_meaning(LaneHits(np.array([2, 0, 1]), np.array([1.0, 0.5, -0.25])))
    assert near.chunks.tolist() == [0, 1, 2]
    assert near.semantic is not None and near.keyword is None
    assert near.semantic.tolist() == near.scores.tolist() == [0.5, 0.0, 1.0]
    assert near.semantic_ranks.tolist() == [2, 3, 1]
    assert near.keyword_ranks.tolist() == [0, 0, 0]
    by_words = Candidates.by_keyword(LaneHits(np.array([3, 1]), np.array([6.0, 3.0])))
    assert by_words.chunks.tolist() == [1, 3]
    assert by_words.semantic is None and by_words.keyword is not None
    assert by_words.keyword.tolist() == by_words.scores.tolist() == [0.5, 1.0]
    assert by_words.keyword_ranks.tolist() == [2, 1]
    assert by_words.semantic_ranks.tolist() == [0, 0]
