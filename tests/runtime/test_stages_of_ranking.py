"""Stages that multiply scores, by numbers worked out by hand."""

import re
from itertools import pairwise

import numpy as np
import pytest

from foundry.runtime.index.errors import ConfigurationError
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.filters import UNKNOWN_TIME, parse_time
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.results import Journal
from foundry.runtime.retrieval.stages.adaptive_weights import adapt_weights, identifier_share
from foundry.runtime.retrieval.stages.anchors import boost_anchors
from foundry.runtime.retrieval.stages.recency import boost_by_decay, boost_by_tiers, today
from foundry.runtime.retrieval.tokens import Tokenizer

tokenizer = Tokenizer("english")
DAY = 86_400


def candidates(*scores: float) -> Candidates:
    count = len(scores)
    return Candidates(
        chunks=np.arange(count),
        semantic=np.array(scores),
        keyword=np.zeros(count),
        semantic_ranks=np.arange(1, count + 1),
        keyword_ranks=np.zeros(count, dtype=np.int64),
        scores=np.array(scores),
    )


@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("How is the seal replaced", 0),  # seal, replaced
        ("the of", 0),
        ("Tell me about D40", 1 / 3),  # tell, about, D40
        ("What does 30 CFR 75.1725 require?", 3 / 4),  # 30, CFR, 75.1725; require
        ("max_connections HTTPServer limit", 2 / 3),
        ("D40", 1),
        ("the NASA rover 7 pump", 0),  # acronyms and numbers stand beside no identifier
    ],
)
def test_share_of_identifiers(query: str, share: float) -> None:
    assert identifier_share(tokenizer.tokenize(query)) == pytest.approx(share)


def test_own_patterns_are_identifiers() -> None:
    tokens = tokenizer.tokenize("reset widget")
    assert identifier_share(tokens, [re.compile("wid.*")]) == 0.5


@pytest.mark.parametrize(
    ("query", "weights", "note"),
    [
        ("How is the seal replaced", (0.7, 0.3), None),
        ("Tell me about D40", (0.5, 0.5), {"semantic": 0.5, "keyword": 0.5}),
        ("max_connections HTTPServer limit", (0.3, 0.7), {"semantic": 0.3, "keyword": 0.7}),
        # Shares of exactly 0.5 and 0.2 are not above them.
        ("D40 hall", (0.5, 0.5), {"semantic": 0.5, "keyword": 0.5}),
        ("D40 big old cold hall", (0.7, 0.3), None),
    ],
)
def test_adaptive_weights(
    query: str, weights: tuple[float, float], note: dict[str, float] | None
) -> None:
    journal = Journal()
    adapted = adapt_weights(
        tokenizer.tokenize(query),
        (),
        0.7,
        0.3,
        journal,
        mostly=0.5,
        mostly_semantic_weight=0.3,
        partly=0.2,
        partly_semantic_weight=0.5,
    )
    assert adapted == weights
    assert journal.stages == ({} if note is None else {"adaptive_weights": note})


def test_unknown_identifiers_adapt_no_weights() -> None:
    journal = Journal()
    journal.unknown_identifiers = ("D41",)
    share = {"mostly": 0.5, "partly": 0.2}
    weights = {"mostly_semantic_weight": 0.3, "partly_semantic_weight": 0.5}
    tokens = tokenizer.tokenize("D41")
    assert adapt_weights(tokens, (), 0.7, 0.3, journal, **share, **weights) == (0.7, 0.3)
    assert journal.stages == {}


def test_keywords_have_the_rest_to_six_places() -> None:
    adapted = adapt_weights(
        tokenizer.tokenize("D40"),
        (),
        0.7,
        0.3,
        Journal(),
        mostly=0.5,
        mostly_semantic_weight=0.1234567,
        partly=0.2,
        partly_semantic_weight=0.5,
    )
    assert adapted == (0.1234567, 0.876543)


def keyword_lane(**postings: list[int]) -> KeywordLane:
    """A lane of four chunks, all of whose impacts are 1."""
    terms = sorted(postings)
    flat = [chunk for term in terms for chunk in postings[term]]
    ends = np.cumsum([0, *(len(postings[term]) for term in terms)]).tolist()
    ranges = dict(zip(terms, pairwise(ends), strict=True))
    return KeywordLane(
        lambda term: ranges.get(term, (0, 0)),
        np.array(flat, dtype=np.uint32),
        np.ones(len(flat), dtype=np.float32),
        4,
    )


def test_anchors() -> None:
    lane = keyword_lane(d40=[1, 3], hall=[0, 1, 2])
    boosted = boost_anchors(
        candidates(0.9, 0.6, 0.3, 0.2), lane, tokenizer.tokenize("the hall in D40"), (), factor=1.5
    )
    # x 1.5 for chunks 1 and 3, all divided by 1.5: 0.6 * 1.5 is not above 0.9 and stays a tie.
    assert boosted.scores == pytest.approx([0.6, 0.6, 0.2, 0.2])
    assert list(boosted.boosts["anchors"]) == [1, 1.5, 1, 1.5]


def test_an_anchor_is_an_identifier_as_a_whole() -> None:
    lane = keyword_lane(maxconnections=[1], connect=[0, 1], max=[0, 1])
    tokens = tokenizer.tokenize("what max_connections does")
    boosted = boost_anchors(candidates(0.9, 0.6), lane, tokens, (), factor=1.5)
    assert list(boosted.boosts["anchors"]) == [1, 1.5]


def test_a_query_without_anchors_changes_nothing() -> None:
    found = candidates(0.9, 0.6)
    tokens = tokenizer.tokenize("the hall")
    assert boost_anchors(found, keyword_lane(hall=[0]), tokens, (), factor=1.5) is found


def test_patterns_make_anchors() -> None:
    boosted = boost_anchors(
        candidates(0.9, 0.6),
        keyword_lane(hall=[1]),
        tokenizer.tokenize("the hall"),
        (re.compile("hall"),),
        factor=2,
    )
    assert boosted.scores == pytest.approx([0.45, 0.6])


def test_what_only_patterns_know_is_an_anchor_as_a_whole() -> None:
    boosted = boost_anchors(
        candidates(0.9, 0.6),
        keyword_lane(blue=[1], hall=[0, 1]),
        tokenizer.tokenize("the hall-blue"),
        (re.compile("hall-blue"),),
        factor=2,
    )
    assert boosted.scores == pytest.approx([0.45, 0.6])


def test_recency_by_tiers() -> None:
    now = parse_time("2026-03-31")
    ages = [0, 7, 8, 30, 31, -3]
    modified = np.array([*(now - age * DAY for age in ages), UNKNOWN_TIME])
    boosted = boost_by_tiers(
        candidates(*[0.6] * 7), modified, now // DAY, tiers=((7, 1.2), (30, 1.1))
    )
    assert list(boosted.boosts["recency"]) == [1.2, 1.2, 1.1, 1.1, 1, 1.2, 1]
    assert boosted.scores == pytest.approx([0.6, 0.6, 0.55, 0.55, 0.5, 0.6, 0.5])


def test_recency_by_decay() -> None:
    now = parse_time("2026-03-31")
    modified = np.array([*(now - age * DAY for age in (0, 7, 14, 21, 28, -1)), UNKNOWN_TIME])
    boosted = boost_by_decay(
        candidates(*[0.8] * 7), modified, now // DAY, half_life_days=7, floor=0.1
    )
    # 28 days would be a sixteenth; the floor is a tenth. What has no date counts as old.
    factors = [1, 0.5, 0.25, 0.125, 0.1, 1, 0.1]
    assert list(boosted.boosts["recency"]) == factors
    assert boosted.scores == pytest.approx([0.8 * factor for factor in factors])


def test_decay_is_rounded_to_nine_places() -> None:
    modified = np.array([9 * DAY, 8 * DAY])
    boosted = boost_by_decay(candidates(1, 1), modified, 10, half_life_days=3, floor=0.1)
    assert list(boosted.boosts["recency"]) == [0.793700526, 0.629960525]


def test_days_begin_at_midnight() -> None:
    day = 20_543
    modified = np.array([day * DAY + 1, day * DAY, day * DAY - 1, (day - 1) * DAY - 1])
    tiers = ((0, 1.3), (1, 1.2), (2, 1.1))
    boosted = boost_by_tiers(candidates(0.5, 0.5, 0.5, 0.5), modified, day, tiers=tiers)
    assert boosted.boosts["recency"].tolist() == [1.3, 1.3, 1.2, 1.1]


def test_a_document_has_one_age_all_day_long() -> None:
    late = parse_time("2026-03-24T23:59:59")
    boosted = boost_by_tiers(
        candidates(0.5), np.array([late]), parse_time("2026-03-31") // DAY, tiers=((7, 1.2),)
    )
    assert boosted.boosts["recency"][0] == 1.2


def test_reference_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_DATE", "1970-01-11")
    assert today() == 10
    monkeypatch.setenv("REFERENCE_DATE", "soon")
    with pytest.raises(ConfigurationError, match="REFERENCE_DATE must be a date"):
        today()
    monkeypatch.delenv("REFERENCE_DATE")
    monkeypatch.setattr("time.time", lambda: 12.5 * DAY)
    assert today() == 12


def test_boosts_of_several_stages_multiply() -> None:
    found = candidates(0.5, 0.5).boosted("a", np.array([1.5, 1.0]), 1.5)
    found = found.boosted("b", np.array([1.0, 1.2]), 1.2)
    assert found.scores == pytest.approx([0.5 / 1.2, 0.5 / 1.5], abs=1e-6)
    assert found.boosts["b"] == pytest.approx([1.0, 1.2])
