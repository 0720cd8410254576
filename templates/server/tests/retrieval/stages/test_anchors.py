"""Anchors: chunks that contain an identifier from the query, with numbers computed by hand."""

import re
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.stages.anchors import LOOKUP_UNITS, boost_anchors

tokenizer = Tokenizer("english")


def candidates(*scores: float) -> Candidates:
    found = LaneHits(np.arange(len(scores)), np.array(scores))
    return Candidates.by_keyword(found).with_scores(np.array(scores))


def having(**postings: list[int]) -> Any:
    """An index of four chunks, given the chunks of each term; all impacts are 1."""
    terms = sorted(postings)
    flat = [chunk for term in terms for chunk in postings[term]]
    ends = np.cumsum([0, *(len(postings[term]) for term in terms)]).tolist()
    ranges = dict(zip(terms, pairwise(ends), strict=True))
    lane = KeywordLane(
        lambda term: ranges.get(term, (0, 0)),
        np.array(flat, dtype=np.uint32),
        np.ones(len(flat), dtype=np.float32),
        4,
    )
    return SimpleNamespace(keyword_lane=lane)


def test_anchors() -> None:
    index = having(d40=[1, 3], hall=[0, 1, 2])
    boosted = boost_anchors(
        candidates(0.9, 0.6, 0.3, 0.2),
        index,
        tokenizer.tokenize("the hall in D40"),
        (),
        Journal(),
        factor=1.5,
    )
    # Chunks 1 and 3 are multiplied by 1.5, then all are divided by 1.5. Since 0.6 * 1.5 equals 0.9,
    # chunks 0 and 1 tie.
    assert boosted.scores == pytest.approx([0.6, 0.6, 0.2, 0.2])
    assert list(boosted.boosts["anchors"]) == [1, 1.5, 1, 1.5]


def test_an_anchor_is_an_identifier_as_a_whole() -> None:
    index = having(maxconnections=[1], connect=[0, 1], max=[0, 1])
    tokens = tokenizer.tokenize("what max_connections does")
    boosted = boost_anchors(candidates(0.9, 0.6), index, tokens, (), Journal(), factor=1.5)
    assert list(boosted.boosts["anchors"]) == [1, 1.5]


def test_a_query_without_anchors_changes_nothing() -> None:
    found = candidates(0.9, 0.6)
    tokens = tokenizer.tokenize("the hall")
    assert boost_anchors(found, having(hall=[0]), tokens, (), Journal(), factor=1.5) is found


def test_patterns_make_anchors() -> None:
    boosted = boost_anchors(
        candidates(0.9, 0.6),
        having(hall=[1]),
        tokenizer.tokenize("the hall"),
        (re.compile("hall"),),
        Journal(),
        factor=2,
    )
    assert boosted.scores == pytest.approx([0.45, 0.6])


def test_what_only_patterns_know_is_an_anchor_as_a_whole() -> None:
    boosted = boost_anchors(
        candidates(0.9, 0.6),
        having(blue=[1], hall=[0, 1]),
        tokenizer.tokenize("the hall-blue"),
        (re.compile("hall-blue"),),
        Journal(),
        factor=2,
    )
    assert boosted.scores == pytest.approx([0.45, 0.6])


@pytest.mark.parametrize(("left", "factors"), [(0, [1.5, 1.5]), (-1, [1, 1.5])])
def test_anchors_are_looked_for_as_far_as_the_budget_goes(left: int, factors: list[float]) -> None:
    index = having(c41=[0], d40=[1])
    # Two anchors are looked up in two candidates.
    journal = Journal(units=4 * LOOKUP_UNITS + left)
    tokens = tokenizer.tokenize("D40 or C41")
    boosted = boost_anchors(candidates(0.9, 0.6), index, tokens, (), journal, factor=1.5)
    assert list(boosted.boosts["anchors"]) == factors
    assert ("budget" in journal.stages) == (left < 0)
