"""How good the best hit is said to be."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workshop.retrieval.candidates import Candidates, LaneHits
from workshop.retrieval.results import compare_with_terms, judge, term_weights
from workshop.retrieval.tokens import Tokenizer

INDEX: Any = SimpleNamespace(
    chunk_count=3,
    keyword_lane=SimpleNamespace(frequency=lambda term: int(term == "seal")),
    tokenizer=Tokenizer("english"),
    manifest=SimpleNamespace(dense={"background": 0.5}),
)
"""An index of three chunks, one of which has the word `seal`."""


def candidates(cosine: float | None, coverage: float | None) -> Candidates:
    one = np.ones(1)
    semantic = None if cosine is None else np.array([cosine])
    numbers = np.zeros(1, dtype=np.int64)
    return Candidates(numbers, semantic, None, numbers, numbers, one, coverage=coverage)


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
    ("cosine", "coverage", "expected"),
    [
        # (cosine - 0.5) / 0.5 + 1.8 coverage, for a background of 0.5.
        (0.6, 0.2501, "strong"),
        (0.6, 0.2499, "weak"),
        (0.5, 0.1667, "weak"),
        (0.5, 0.1666, "none"),
        (0.1, 0.3612, "strong"),
        (0.1, 0.361, "weak"),
        (None, 0.18, "strong"),
        (None, 0.179, "weak"),
        (None, 0.119, "none"),
        (None, None, "none"),
        (0.55, None, "strong"),
        (0.549, None, "weak"),
        (0.52, None, "none"),
    ],
)
def test_the_evidence_decides(cosine: float | None, coverage: float | None, expected: str) -> None:
    assert judge(INDEX, candidates(cosine, coverage)) == expected


def test_a_query_about_something_else_needs_more_evidence() -> None:
    near = candidates(0.6, 0.1876)  # 0.2 + 3.2 x 0.1876 is 0.80, less 0.12 for each of distance.
    for distance, expected in ((0.99, "strong"), (1.01, "weak"), (5.83, "weak"), (5.84, "none")):
        assert judge(INDEX, replace(near, distance=distance)) == expected


def test_nothing_found_is_no_match() -> None:
    assert judge(INDEX, Candidates.by_keyword(LaneHits.none())) == "none"


def test_what_a_stage_brought_in_does_not_count() -> None:
    assert judge(INDEX, candidates(math.nan, 0.0)) == "none"
