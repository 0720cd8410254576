"""Minimum scores, caps, near-duplicates and heuristics, by numbers worked out by hand."""

from collections.abc import Sequence
from dataclasses import asdict, astuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.results import (
    Hit,
    Journal,
    LaneRanks,
    LaneScores,
    rank_hits,
    respond,
)
from foundry.runtime.retrieval.stages.document_cap import cap_documents
from foundry.runtime.retrieval.stages.heuristics import find_entities, rerank_heuristically
from foundry.runtime.retrieval.stages.minimum_score import require_lane_score, require_score
from foundry.runtime.retrieval.stages.near_duplicates import Shingles, merge_near_duplicates
from foundry.runtime.retrieval.tokens import Tokenizer

TOKENIZER = Tokenizer("english")


def record(
    name: str,
    text: str = "",
    *,
    document: str = "d",
    tags: Sequence[str] = (),
    source: str = "docs",
) -> ChunkRecord:
    return ChunkRecord(
        id=name,
        document_id=document,
        title=document,
        text=text,
        section=[],
        position={"start": 0, "end": len(text), "line_start": 1, "line_end": 1},
        source=source,
        path=document,
        url=None,
        tags=list(tags),
        modified=None,
        also_at=[],
    )


def candidates(
    scores: Sequence[float],
    *,
    semantic: Sequence[float] | None = None,
    keyword: Sequence[float] | None = None,
) -> Candidates:
    count = len(scores)
    return Candidates(
        chunks=np.arange(count),
        semantic=None if semantic is None else np.array(semantic, dtype=np.float64),
        keyword=None if keyword is None else np.array(keyword, dtype=np.float64),
        semantic_ranks=np.zeros(count, dtype=np.int64),
        keyword_ranks=np.zeros(count, dtype=np.int64),
        scores=np.array(scores, dtype=np.float64),
    )


def index_of(records: Sequence[ChunkRecord], *, chunks: int = 16, holding: int = 1) -> Any:
    """An index of so many chunks, of which each term stands in `holding`."""
    return SimpleNamespace(
        chunk=records.__getitem__,
        read_chunk=lambda number, make: make(asdict(records[number])),
        tokenizer=TOKENIZER,
        chunk_count=chunks,
        keyword_lane=SimpleNamespace(frequency=lambda _: holding),
        manifest=SimpleNamespace(dense=None),
    )


def hits(records: Sequence[ChunkRecord]) -> list[Hit]:
    """Hits in this order, with scores that fall by a hundredth."""
    return [
        Hit(*astuple(found), 0.9 - number / 100, LaneScores(None, None), LaneRanks(None, None), {})
        for number, found in enumerate(records)
    ]


def test_minimum_of_one_lane() -> None:
    journal = Journal()
    found = candidates([0.5, 0.4, 0.3], semantic=[0.2, 0.35, 0.3], keyword=[1.0, 0.0, 0.5])
    kept = require_lane_score(found, journal, semantic=0.3)
    assert kept.chunks.tolist() == [1, 2]
    assert kept.scores.tolist() == [0.4, 0.3]
    assert journal.stages == {"minimum_score": {"dropped": 1}}


def test_either_lane_may_reach_its_minimum() -> None:
    found = candidates([0.5, 0.4, 0.3], semantic=[0.2, 0.35, 0.1], keyword=[1.0, 0.0, 0.5])
    kept = require_lane_score(found, Journal(), semantic=0.3, keyword=0.6)
    assert kept.chunks.tolist() == [0, 1]


def test_lane_that_was_not_asked_decides_nothing() -> None:
    journal = Journal()
    found = candidates([0.5, 0.4], keyword=[1.0, 0.1])
    assert require_lane_score(found, journal, semantic=0.9) is found
    unscored = candidates([0.5, 0.4], semantic=[np.nan, 0.1], keyword=[np.nan, 1.0])
    assert require_lane_score(unscored, journal, semantic=0.3).chunks.tolist() == [0]


def test_nothing_left_says_how_near_it_was() -> None:
    journal = Journal()
    assert not len(require_score(candidates([0.21, 0.2]), journal, minimum=0.3).scores)
    assert journal.stages == {"minimum_score": {"dropped": 2, "best_dropped": 0.21}}


def test_a_minimum_is_enough() -> None:
    journal = Journal()
    found = candidates([0.5, 0.3], semantic=[0.25, 0.25])
    assert len(require_score(found, journal, minimum=0.3).scores) == 2
    assert len(require_lane_score(found, journal, semantic=0.25).scores) == 2
    assert journal.stages == {}
    assert require_score(found, journal, minimum=0.300001).scores.tolist() == [0.5]


def test_both_minimums_are_counted_together() -> None:
    journal = Journal()
    found = candidates([0.5, 0.4, 0.3], semantic=[0.1, 0.5, 0.5], keyword=[0, 0, 0])
    kept = require_score(require_lane_score(found, journal, semantic=0.3), journal, minimum=0.35)
    assert kept.chunks.tolist() == [1]
    assert journal.stages == {"minimum_score": {"dropped": 2}}


def test_cap() -> None:
    journal = Journal()
    found = hits([record(f"c{n}", document=document) for n, document in enumerate("aababca")])
    shown = list(cap_documents(found, journal, most=2))
    assert [hit.id for hit in shown] == ["c0", "c1", "c2", "c4", "c5"]
    assert journal.stages == {"document_cap": {"left_out": 2}}


def test_capped_response_is_full_while_others_are_left() -> None:
    # 60 chunks of one document stand above 5 of others.
    records = [record(f"c{n:02}", document="big" if n < 60 else f"d{n}") for n in range(65)]
    found = candidates([0.9 - n / 100 for n in range(65)])
    journal = Journal()
    index = index_of(records)
    response = respond(
        index,
        "q",
        5,
        journal,
        found,
        cap_documents(rank_hits(index, found, 5), journal, most=2),
        mode="hybrid",
        reason="default",
    )
    assert [hit.id for hit in response.hits] == ["c00", "c01", "c60", "c61", "c62"]
    assert response.stages == {"document_cap": {"left_out": 58}}


TEXT = (
    "Lamps are checked by the foreman before each shift, and a lamp that smokes is handed in at the"
    " lamp room, where it is cleaned, filled with oil and locked again before anybody goes down."
)


def merge(texts: Sequence[str], depth: int = 20) -> tuple[list[Hit], Journal]:
    journal = Journal()
    found = hits([record(f"c{number}", text) for number, text in enumerate(texts)])
    shown = merge_near_duplicates(found, TOKENIZER.tokenize, journal, depth=depth, similarity=0.8)
    return list(shown), journal


def test_near_duplicates_are_named_by_the_best_of_them() -> None:
    shown, journal = merge(
        [
            TEXT,
            "Air moves through the mine.",
            TEXT.replace("cleaned", "washed"),
            TEXT.upper() + " -- Home | Contact",
        ]
    )
    assert [hit.id for hit in shown] == ["c0", "c1"]
    assert shown[0].near_duplicates == ("c2", "c3")
    assert shown[0].to_json()["near_duplicates"] == ["c2", "c3"]
    assert "near_duplicates" not in shown[1].to_json()
    assert journal.stages == {"near_duplicates": {"removed": 2}}


def test_texts_that_differ_in_a_number_or_a_code_are_no_duplicates() -> None:
    base = TEXT + " This is rule 12 of region D40."
    shown, _ = merge([base, base.replace("12", "13"), base.replace("D40", "D41"), base])
    assert [hit.id for hit in shown] == ["c0", "c1", "c2"]
    base = TEXT + " This is max_speed."
    shown, _ = merge([base, base.replace("speed", "depth"), base])
    assert [hit.id for hit in shown] == ["c0", "c1"]


def test_duplicates_below_the_depth_are_left_out_too() -> None:
    shown, journal = merge([TEXT, "Air moves.", TEXT], depth=1)
    assert [hit.id for hit in shown] == ["c0", "c1"]
    assert shown[0].near_duplicates == ()
    assert journal.stages == {"near_duplicates": {"removed": 1}}


def test_resemblance_by_hand() -> None:
    # Terms a..f give five pairs; x in place of f shares four of six.
    words = "alpha bravo charlie delta echo foxtrot"
    first, second = (
        Shingles.of(text, TOKENIZER.tokenize) for text in (words, words.replace("foxtrot", "xray"))
    )
    assert len(first.pairs) == 5
    assert len(first.pairs & second.pairs) / len(first.pairs | second.pairs) == pytest.approx(4 / 6)
    assert first.resembles(second, 4 / 6 - 1e-9)
    assert not first.resembles(second, 4 / 6 + 1e-9)


def test_resemblance_is_reached_exactly() -> None:
    words = "alpha bravo charlie delta echo foxtrot"
    longer, shorter = (
        Shingles.of(text, TOKENIZER.tokenize) for text in (words, words.removesuffix(" foxtrot"))
    )
    assert longer.resembles(shorter, 4 / 5) and shorter.resembles(longer, 4 / 5)
    assert not longer.resembles(shorter, 4 / 5 + 1e-9)


def test_single_words_are_compared() -> None:
    pump, seal = (Shingles.of(text, TOKENIZER.tokenize) for text in ("pump", "seal"))
    assert pump.resembles(pump, 1.0)
    assert not pump.resembles(seal, 0.1)


@given(st.lists(st.sampled_from([TEXT, TEXT + " Indeed.", "one", "one two", "", "D40", "日本語"])))
def test_every_hit_is_shown_or_named_once(texts: list[str]) -> None:
    shown, _ = merge(texts, depth=len(texts))
    named = [name for hit in shown for name in (hit.id, *hit.near_duplicates)]
    assert sorted(named) == sorted(f"c{number}" for number in range(len(texts)))
    assert [hit.score for hit in shown] == sorted((hit.score for hit in shown), reverse=True)


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("Who is Orsel Vane?", [{"orsel"}, {"vane"}]),
        ("Ventilation of the mine", []),
        ("Orsel Vane", [{"orsel"}, {"vane"}]),
        ("Orsel Vane lives here", [{"orsel"}, {"vane"}]),
        ("Orsel keeps Vane", [{"vane"}]),
        ("what is D40", [{"d40"}]),
        ("how does max_connections work", [{"maxconnections", "max", "connect"}]),
        ("", []),
    ],
)
def test_entities(query: str, entities: list[set[str]]) -> None:
    assert [set(entity) for entity in find_entities(TOKENIZER.tokenize(query))] == entities


def test_heuristic_factors_by_hand() -> None:
    records = [
        record("a", "Nobody is named here."),
        record("b", "Orsel met nobody.", tags=["fire safety"]),
        record("c", "Orsel Vane lives here."),
        record("d", "Orsel Vane lives here too."),
    ]
    tokens = TOKENIZER.tokenize("What did Orsel Vane say on safety and fire?")
    ranked = rerank_heuristically(
        candidates([0.8, 0.6, 0.5, 0.1]),
        index_of(records),
        tokens,
        hits=3,
        entities_gain=0.3,
        category_gain=0.1,
    )
    largest = 1.3 * 1.1
    assert ranked.boosts["entities"].tolist() == pytest.approx([1, 1.15, 1.3, 1])
    assert ranked.boosts["category"].tolist() == pytest.approx([1, 1.1, 1, 1])
    assert ranked.scores == pytest.approx(
        [0.8 / largest, 0.6 * 1.15 * 1.1 / largest, 0.5 * 1.3 / largest, 0.1 / largest], abs=2e-6
    )


@pytest.mark.parametrize(
    ("chunks", "holding", "factor"),
    [(16, 0, 1.3), (16, 1, 1.3), (16, 4, 1.15), (16, 16, 1.0), (2, 2, 1.0), (1, 1, 1.3)],
)
def test_what_many_chunks_hold_says_less(chunks: int, holding: int, factor: float) -> None:
    # 1 - ln(4) / ln(16) is one half.
    ranked = rerank_heuristically(
        candidates([0.8]),
        index_of([record("a", "Orsel lives here.")], chunks=chunks, holding=holding),
        TOKENIZER.tokenize("where does Orsel live"),
        hits=1,
        entities_gain=0.3,
        category_gain=0.0,
    )
    assert ranked.boosts["entities"].tolist() == pytest.approx([factor])


def test_heuristics_without_candidates() -> None:
    ranked = rerank_heuristically(
        candidates([]), index_of([]), [], hits=5, entities_gain=0.3, category_gain=0.1
    )
    assert len(ranked.scores) == 0
