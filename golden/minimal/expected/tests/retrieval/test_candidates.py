"""Choosing the best candidates, and boosting their scores to at most 1."""

from dataclasses import replace

import numpy as np

from workshop.index.protocols import LaneHits
from workshop.retrieval.candidates import Candidates


def candidates(*scores: float) -> Candidates:
    found = LaneHits(10 * np.arange(1, len(scores) + 1), np.ones(len(scores)))
    return replace(Candidates.by_keyword(found), scores=np.array(scores, dtype=np.float64))


def test_equal_scores_are_in_the_order_of_the_index() -> None:
    assert candidates(0.5, 0.9, 0.5, 0.5, 0.1).best_places().tolist() == [1, 0, 2, 3, 4]


def test_the_best_candidates_are_those_of_sorting() -> None:
    chooser = np.random.default_rng(8)
    for size in range(40):
        scores = chooser.choice([0.0, 0.25, 0.5, 1.0], size).tolist()
        expected = sorted(range(size), key=lambda place: (-scores[place], place))
        assert candidates(*scores).best_places().tolist() == expected


def test_candidates_below_the_first_depth_come_last() -> None:
    found = candidates(0.1, 0.2, 0.9, 0.8, 0.7, 0.3)
    ranks = np.array([1, 3, 30, 4, 0, 0])
    found = replace(found, first_depth=2, keyword_ranks=ranks, semantic_ranks=ranks[::-1])
    assert found.levels().tolist() == [0, 1, 1, 1, 1, 0]
    assert found.best_places().tolist() == [5, 0, 2, 3, 4, 1]
    unranked = replace(found, keyword_ranks=0 * ranks, semantic_ranks=0 * ranks)
    assert unranked.levels().tolist() == [0] * 6
    assert found.at(np.array([1, 4])).scores.tolist() == [0.2, 0.7]


def test_scores_have_six_decimal_places_from_0_to_1() -> None:
    found = candidates(0.0, 0.0, 0.0, 0.0).with_scores(np.array([-0.5, 1.5, 1 / 3, 2 / 3]))
    assert found.scores.tolist() == [0.0, 1.0, 0.333333, 0.666667]
    assert found.chunks.tolist() == [10, 20, 30, 40]


def test_boosts_are_divided_by_the_largest_factor() -> None:
    found = candidates(0.8, 0.5)
    once = found.boosted("age", np.array([0.5, 1.0]))
    assert once.scores.tolist() == [0.4, 0.5]
    twice = once.boosted("anchors", np.array([1.5, 1.0]), 2.0)
    assert twice.scores.tolist() == [0.3, 0.25]
    factors = {name: values.tolist() for name, values in twice.boosts.items()}
    assert factors == {"age": [0.5, 1.0], "anchors": [1.5, 1.0]}
    assert found.boosts == {}
