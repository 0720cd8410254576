"""The budget of a query: what it covers to the unit, and how a response says that it ran out."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from workshop.retrieval.budget import (
    MAX_SECONDS,
    MIN_UNITS,
    TERM_UNITS,
    UNITS_OF_CHUNK,
    Budget,
)
from workshop.retrieval.results import TOO_MUCH, Journal, afford_terms


def index_with(**frequencies: int) -> Any:
    return SimpleNamespace(
        keyword_lane=SimpleNamespace(frequency=lambda term: frequencies.get(term, 0))
    )


@pytest.mark.parametrize(("units", "is_left"), [(99, True), (100, True), (101, False)])
def test_a_budget_covers_what_is_left_of_it(units: int, is_left: bool) -> None:
    budget = Budget(100)
    assert budget.take(units) is is_left
    assert budget.left == (100 - units if is_left else 100)


@pytest.mark.parametrize("chunks", [0, 1_001, 1_000_000])
def test_it_grows_with_the_index_and_half_is_kept_for_the_terms(chunks: int) -> None:
    budget = Budget.of(SimpleNamespace(chunk_count=chunks))  # type: ignore[arg-type]
    units = MIN_UNITS + int(UNITS_OF_CHUNK * chunks)
    assert (budget.left, budget.kept) == (units // 2, units - units // 2)
    budget.release()
    assert (budget.left, budget.kept) == (units, 0)


def test_the_clock_decides_only_after_very_long() -> None:
    assert Budget(100, begun=time.thread_time()).take(100)
    assert not Budget(100, begun=time.thread_time() - MAX_SECONDS).take(1)


def test_a_response_names_each_stage_that_left_something_out_once() -> None:
    journal = Journal(budget=Budget(10))
    assert journal.spend("operators", 10)
    assert journal.stages == {}
    assert not journal.spend("operators", 1)
    assert not journal.spend("operators", 1)
    journal.stop("anchors")
    assert journal.stages == {"budget": {"stopped": ["operators", "anchors"], "notice": TOO_MUCH}}


@pytest.mark.parametrize(
    ("left", "affordable"),
    [
        (2 * TERM_UNITS + 11, ["a", "rare", "a"]),
        (2 * TERM_UNITS + 10, ["rare"]),
        (3 * TERM_UNITS + 110, ["a", "rare", "a"]),
        (3 * TERM_UNITS + 111, ["often", "a", "rare", "a"]),
    ],
)
def test_the_most_frequent_terms_are_left_out_first(left: int, affordable: list[str]) -> None:
    journal = Journal(budget=Budget(0, kept=left))
    index = index_with(often=100, a=10, rare=1)
    assert afford_terms(index, ["often", "a", "rare", "a"], journal) == affordable
    assert ("budget" in journal.stages) == ("often" not in affordable)


def test_of_terms_equally_frequent_the_same_are_left_out_in_every_process() -> None:
    terms = ["e", "b", "d", "a", "c"]
    for order in (terms, terms[::-1]):
        journal = Journal(budget=Budget(3 * TERM_UNITS + 15))
        found = afford_terms(index_with(**dict.fromkeys(terms, 5)), order, journal)
        assert sorted(found) == ["a", "b", "c"]
