"""Minimum scores: candidates below them are dropped."""

import numpy as np
from samples import sample_candidates

from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.minimum_score import require_lane_score, require_score


def test_minimum_of_one_lane() -> None:
    journal = Journal()
    found = sample_candidates([0.5, 0.4, 0.3], keyword=[0.2, 0.35, 0.3])
    kept = require_lane_score(found, journal, keyword=0.3)
    assert kept.chunks.tolist() == [1, 2]
    assert kept.scores.tolist() == [0.4, 0.3]
    assert journal.stages == {"minimum_score": {"dropped": 1}}


def test_minimum_of_the_semantic_lane() -> None:
    found = sample_candidates([0.5, 0.4, 0.3], semantic=[0.2, 0.35, 0.3], keyword=[1.0, 0.0, 0.5])
    assert require_lane_score(found, Journal(), semantic=0.3).chunks.tolist() == [1, 2]


def test_either_lane_may_reach_its_minimum() -> None:
    found = sample_candidates([0.5, 0.4, 0.3], semantic=[0.2, 0.35, 0.1], keyword=[1.0, 0.0, 0.5])
    kept = require_lane_score(found, Journal(), semantic=0.3, keyword=0.6)
    assert kept.chunks.tolist() == [0, 1]


def test_lane_that_was_not_asked_decides_nothing() -> None:
    journal = Journal()
    found = sample_candidates([0.5, 0.4], keyword=[1.0, 0.1])
    assert require_lane_score(found, journal, semantic=0.9) is found
    unscored = sample_candidates([0.5, 0.4], semantic=[np.nan, 0.1], keyword=[np.nan, 1.0])
    assert require_lane_score(unscored, journal, semantic=0.3).chunks.tolist() == [0]


def test_nothing_left_says_how_near_it_was() -> None:
    journal = Journal()
    assert not len(require_score(sample_candidates([0.21, 0.2]), journal, minimum=0.3).scores)
    assert journal.stages == {"minimum_score": {"dropped": 2, "best_dropped": 0.21}}


def test_a_minimum_is_enough() -> None:
    journal = Journal()
    found = sample_candidates([0.5, 0.3], keyword=[0.25, 0.25])
    assert len(require_score(found, journal, minimum=0.3).scores) == 2
    assert len(require_lane_score(found, journal, keyword=0.25).scores) == 2
    assert journal.stages == {}
    assert require_score(found, journal, minimum=0.300001).scores.tolist() == [0.5]


def test_both_minimums_are_counted_together() -> None:
    journal = Journal()
    found = sample_candidates([0.5, 0.4, 0.3], keyword=[0.1, 0.5, 0.5])
    kept = require_score(require_lane_score(found, journal, keyword=0.3), journal, minimum=0.35)
    assert kept.chunks.tolist() == [1]
    assert journal.stages == {"minimum_score": {"dropped": 2}}
