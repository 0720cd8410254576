"""How good the best hit is said to be."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workshop.retrieval.candidates import Candidates, LaneHits
from workshop.retrieval.results import compare_with_terms, judge_terms, term_weights
from workshop.retrieval.tokens import Tokenizer

INDEX: Any = SimpleNamespace(
    chunk_count=3,
    keyword_lane=SimpleNamespace(frequency=lambda term: int(term == "seal")),
    tokenizer=Tokenizer("english"),
)
"""An index of three chunks, one of which has the word `seal`."""


def test_weights_are_those_of_bm25_and_leave_headings_out() -> None:
    assert term_weights(INDEX, ["seal", "seal", "zebra", "=seal"]) == {
        "seal": pytest.approx(math.log(1 + 2.5 / 1.5)),
        "zebra": pytest.approx(math.log(1 + 3.5 / 0.5)),
    }


def test_identifier_that_no_chunk_has_is_lacking_in_every_hit() -> None:
    hits = LaneHits(np.array([4]), np.array([1.0]))
    common, rare = math.log(1 + 2.5 / 1.5), math.log(1 + 3.5 / 0.5)
    known = compare_with_terms(hits, INDEX, ["seal"], ())
    assert (known.coverage, known.full_score) == (1.0, 1.0)
    lacking = compare_with_terms(hits, INDEX, ["seal", "zebra", "lynx"], ("zebra",))
    assert lacking.coverage == pytest.approx(1 / (common + 2 * rare))
    assert lacking.full_score == pytest.approx(1 + rare)


@pytest.mark.parametrize(
    ("coverage", "expected"), [(0.18, "strong"), (0.179, "weak"), (0.119, "none"), (None, "none")]
)
def test_terms_decide(coverage: float | None, expected: str) -> None:
    found = Candidates.by_keyword(LaneHits(np.array([4]), np.array([1.0]), coverage=coverage))
    assert judge_terms(found) == expected


def test_nothing_found_is_no_match() -> None:
    assert judge_terms(Candidates.by_keyword(LaneHits.none())) == "none"
    assert judge_terms(Candidates.by_keyword(replace(LaneHits.none(), coverage=1.0))) == "none"
