"""The limits of a query, the size of its budget, and the report if the budget is used up."""

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from workshop.errors import InvalidRequestError
from workshop.index.tokens import MAX_QUERY_CHARACTERS
from workshop.retrieval.journal import (
    CHARACTER_UNITS,
    MAX_SECONDS,
    MIN_UNITS,
    MODES,
    TERM_UNITS,
    TOO_MUCH,
    UNITS_OF_CHUNK,
    Journal,
    afford_terms,
    early_budget,
    format_filters,
)


def index_with(**frequencies: int) -> Any:
    lane = SimpleNamespace(frequency=lambda term: frequencies.get(term, 0))
    return SimpleNamespace(keyword_lane=lane, chunk_count=0)


@pytest.mark.parametrize(("units", "is_left"), [(99, True), (100, True), (101, False)])
def test_units_can_be_spent_up_to_the_budget(units: int, is_left: bool) -> None:
    journal = Journal(units=100)
    assert journal.spend("anchors", units) is is_left
    assert journal.units == (100 - units if is_left else 100)


@pytest.mark.parametrize("chunks", [0, 1_001, 1_000_000])
def test_budget_grows_with_the_index_and_half_is_kept_for_terms(chunks: int) -> None:
    index = index_with()
    index.chunk_count = chunks
    half = int(MIN_UNITS + UNITS_OF_CHUNK * chunks) // 2
    assert early_budget(index, "") == half
    # A long query leaves less for its stages, but not for its terms.
    for length, counted in ((1, 1), (MAX_QUERY_CHARACTERS, 1_000), (2_000, 1_000)):
        query = "x" * length
        journal = Journal(query, units=early_budget(index, query))
        assert journal.units == half - counted * CHARACTER_UNITS > 0
        afford_terms(index, ["a"], journal)
        assert journal.units == 2 * half - TERM_UNITS


def test_time_is_limited_only_by_max_seconds() -> None:
    assert Journal(processor_started=time.thread_time()).spend("anchors", 1)
    assert not Journal(processor_started=time.thread_time() - MAX_SECONDS).spend("anchors", 1)


def test_each_stopped_stage_is_named_once() -> None:
    journal = Journal(units=10)
    assert journal.spend("operators", 10)
    assert journal.stages == {}
    assert not journal.spend("operators", 1)
    assert not journal.spend("operators", 1)
    journal.stop("anchors")
    assert journal.stages == {"budget": {"stopped": ["operators", "anchors"], "notice": TOO_MUCH}}


@pytest.mark.parametrize(
    ("left", "affordable"),
    [
        # A repeated term counts twice.
        (2 * TERM_UNITS + 21, ["a", "rare", "a"]),
        (2 * TERM_UNITS + 20, ["rare"]),
        (3 * TERM_UNITS + 120, ["a", "rare", "a"]),
        (3 * TERM_UNITS + 121, ["often", "a", "rare", "a"]),
    ],
)
def test_the_most_frequent_terms_are_left_out_first(left: int, affordable: list[str]) -> None:
    # The index has half of the minimum budget; the terms add the other half.
    journal = Journal(units=left - MIN_UNITS // 2)
    index = index_with(often=100, a=10, rare=1)
    assert afford_terms(index, ["often", "a", "rare", "a"], journal) == affordable
    assert ("budget" in journal.stages) == ("often" not in affordable)


def test_ties_between_terms_are_broken_the_same_way_everywhere() -> None:
    terms = ["e", "b", "d", "a", "c"]
    for order in (terms, terms[::-1]):
        journal = Journal(units=3 * TERM_UNITS + 15 - MIN_UNITS // 2)
        found = afford_terms(index_with(**dict.fromkeys(terms, 5)), order, journal)
        assert sorted(found) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("query", "top_k", "field"),
    [
        ("x", 1, None),
        ("x" * 2000, 100, None),
        (" \n", 1, "query"),
        ("x" * 2001, 1, "query"),
        ("x", 0, "top_k"),
        ("x", 101, "top_k"),
    ],
)
def test_bounds_of_a_request(query: str, top_k: int, field: str | None) -> None:
    if field is None:
        Journal.begin(query, top_k)
    else:
        with pytest.raises(InvalidRequestError) as caught:
            Journal.begin(query, top_k)
        assert caught.value.field == field


def test_only_known_modes_are_accepted() -> None:
    for mode in MODES:
        assert Journal.begin("seal", 10, mode).mode == mode
    with pytest.raises(InvalidRequestError) as caught:
        Journal.begin("seal", 10, cast(Any, "psychic"))
    assert caught.value.field == "mode"


def test_notes_of_stages_are_explained_in_sentences() -> None:
    journal = Journal()
    journal.note("links", "1 document raised.", documents=1)
    journal.note("links", "2 documents raised.", "Both are new.", documents=2)
    journal.note("my_stage", seen=["\u00e9"])
    journal.note("languages", notice="The documents are in German.")
    journal.note("rerank", failed="The model took too long.")
    journal.note("nothing")
    told = ("2 documents raised.", "Both are new.", 'My stage: {"seen": ["\u00e9"]}')
    assert journal.explain() == told
    assert journal.stages["links"] == {"documents": 2}


def test_filters_are_described_in_words() -> None:
    filters = {"modified_after": "2026-01-01", "tags": ["a", "b"]}
    said = format_filters(filters)
    assert said == "modified after \u201c2026-01-01\u201d, tags \u201ca, b\u201d"


def test_without_vectors_only_semantic_mode_reports_it() -> None:
    reasons = []
    for mode in MODES:
        journal = Journal.begin("seal", 10, mode)
        journal.answer_by_keywords()
        assert journal.mode == "keyword"
        reasons.append(journal.reason)
    assert dict(zip(MODES, reasons, strict=True)) == {
        "hybrid": "default",
        "semantic": "no_vectors",
        "keyword": "requested",
    }
