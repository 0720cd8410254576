"""Boosts: factors of scores, which end at 1."""

import numpy as np

from workshop.retrieval.candidates import Candidates, LaneHits


def candidates(*scores: float) -> Candidates:
    ranks = np.arange(1, len(scores) + 1)
    values = np.array(scores)
    return Candidates.by_keyword(LaneHits(10 * ranks, values)).with_scores(values)


def test_scores_have_six_decimal_places_from_0_to_1() -> None:
    found = candidates(0.0, 0.0, 0.0, 0.0).with_scores(np.array([-0.5, 1.5, 1 / 3, 2 / 3]))
    assert found.scores.tolist() == [0.0, 1.0, 0.333333, 0.666667]
    assert found.chunks.tolist() == [10, 20, 30, 40]


def test_a_boost_is_scaled_by_the_largest_that_there_can_be() -> None:
    found = candidates(0.8, 0.5)
    once = found.boosted("age", np.array([0.5, 1.0]))
    assert once.scores.tolist() == [0.4, 0.5]
    twice = once.boosted("anchors", np.array([1.5, 1.0]), 2.0)
    assert twice.scores.tolist() == [0.3, 0.25]
    factors = {name: values.tolist() for name, values in twice.boosts.items()}
    assert factors == {"age": [0.5, 1.0], "anchors": [1.5, 1.0]}
    assert found.boosts == {}
