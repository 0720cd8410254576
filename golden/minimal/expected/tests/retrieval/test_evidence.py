"""How the match of the best hit is graded."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workshop.index.protocols import LaneHits
from workshop.index.tokens import Tokenizer
from workshop.retrieval.candidates import Candidates
from workshop.retrieval.match import compare_with_terms, judge_terms, term_weights

INDEX: Any = SimpleNamespace(
    chunk_count=3,
    keyword_lane=SimpleNamespace(frequency=lambda term: int(term == "seal")),
    tokenizer=Tokenizer("english"),
)
"""An index of three chunks, one of which contains the word `seal`."""


def test_weights_are_those_of_bm25_and_leave_headings_out() -> None:
    assert term_weights(INDEX, ["seal", "seal", "zebra", "=seal"]) == {
        "seal": pytest.approx(math.log(1 + 2.5 / 1.5)),
        "zebra": pytest.approx(math.log(1 + 3.5 / 0.5)),
    }


def test_unknown_identifiers_lower_the_coverage_of_every_hit() -> None:
    hits = LaneHits(np.array([4]), np.array([1.0]))
    common, rare = math.log(1 + 2.5 / 1.5), math.log(1 + 3.5 / 0.5)
    known = compare_with_terms(hits, INDEX, ["seal"], ())
    assert (known.coverage, known.full_score) == (1.0, 1.0)
    lacking = compare_with_terms(hits, INDEX, ["seal", "zebra", "lynx"], ("zebra",))
    assert lacking.coverage == pytest.approx(1 / (common + 2 * rare))
    assert lacking.full_score == pytest.approx(1 + rare)


@pytest.mark.parametrize(
    ("terms", "chunks", "expected"),
    [
        # A term in 1 of 1,000 chunks weighs log(1 + 999.5 / 1.5) = 6.5; a term in none weighs log(1
        # + 1000.5 / 0.5) = 7.6.
        (["seal", "pump", "zebra"], 1_000, True),  # 7.6 of 20.6 is more than 0.35.
        (["seal", "pump", "oil", "zebra"], 1_000, False),  # 7.6 of 27.1 is less than 0.35.
        (["seal", "pump", "zebra"], 999, False),
    ],
)
def test_a_query_is_doubted_if_much_of_it_is_in_no_chunk(
    terms: list[str], chunks: int, expected: bool
) -> None:
    held = SimpleNamespace(frequency=lambda term: int(term != "zebra"))
    index: Any = SimpleNamespace(chunk_count=chunks, keyword_lane=held)
    hits = compare_with_terms(LaneHits(np.array([4]), np.array([9.0])), index, terms)
    assert hits.doubted is expected
    assert judge_terms(Candidates.by_keyword(hits)) == ("weak" if expected else "strong")


def test_unknown_identifiers_are_doubted_in_small_indexes_too() -> None:
    hits = LaneHits(np.array([4]), np.array([1.0]))
    assert compare_with_terms(hits, INDEX, ["seal"], ("zebra",)).doubted
    assert not compare_with_terms(hits, INDEX, ["seal"]).doubted


@pytest.mark.parametrize(
    ("coverage", "expected"),
    [(0.18, "strong"), (0.179, "weak"), (0.06, "weak"), (0.059, "none"), (None, "none")],
)
def test_the_match_is_graded_by_coverage(coverage: float | None, expected: str) -> None:
    found = Candidates.by_keyword(LaneHits(np.array([4]), np.array([1.0]), coverage=coverage))
    assert judge_terms(found) == expected


def test_nothing_found_is_no_match() -> None:
    assert judge_terms(Candidates.by_keyword(LaneHits.none())) == "none"
    assert judge_terms(Candidates.by_keyword(replace(LaneHits.none(), coverage=1.0))) == "none"
