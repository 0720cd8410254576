"""The keyword lane over a few chunks, with numbers computed by hand."""

from dataclasses import replace

import numpy as np
import pytest

from workshop.index.protocols import LaneHits
from workshop.retrieval.candidates import Candidates, best, candidate_count, threshold
from workshop.retrieval.keyword_lane import KeywordLane

POSTINGS = {"pump": (0, 3), "seal": (3, 5), "valve": (5, 6), "belt": (6, 8)}
WORDS = KeywordLane(
    lambda term: POSTINGS.get(term, (0, 0)),
    np.array([0, 2, 3, 2, 4, 0, 2, 3], dtype=np.uint32),
    np.array([1, 2, 0.5, 0.25, 4, 1.25, 1, 1], dtype=np.float32),
    chunk_count=5,
)
"""A lane of five chunks, the second without terms."""


@pytest.mark.parametrize(
    ("terms", "count", "chunks", "scores"),
    [
        (["pump"], 10, [2, 0, 3], [2, 1, 0.5]),
        (["pump", "seal"], 10, [4, 2, 0, 3], [4, 2.25, 1, 0.5]),
        (["pump", "seal", "pump"], 2, [2, 4], [4.25, 4]),
        # Ties are broken by index order.
        (["pump", "valve"], 1, [0], [2.25]),
        (["seal", "valve", "valve", "valve"], 2, [4, 0], [4, 3.75]),
        (["belt"], 1, [2], [1]),
        (["zebra"], 10, [], []),
        ([], 10, [], []),
    ],
)
@pytest.mark.parametrize("chunk_count", [5, 5_000])
def test_impacts_of_terms_add_up(
    chunk_count: int, terms: list[str], count: int, chunks: list[int], scores: list[float]
) -> None:
    hits = replace(WORDS, chunk_count=chunk_count).search(terms, count)
    assert hits.chunks.tolist() == chunks
    assert hits.scores.tolist() == scores == WORDS.scores(terms, hits.chunks).tolist()


def test_words_are_counted_and_looked_up_among_some_chunks() -> None:
    assert [WORDS.frequency(term) for term in ("pump", "seal", "zebra")] == [3, 2, 0]
    assert WORDS.scores(["pump", "seal"], np.array([1, 2, 4])).tolist() == [0, 2.25, 4]
    allowed = np.array([True, True, False, True, True])
    assert WORDS.search(["pump"], 10, allowed).chunks.tolist() == [0, 3]
    assert WORDS.search(["pump"], 1, allowed).chunks.tolist() == [0]


def test_the_best_score_is_1_unless_terms_are_missing() -> None:
    scores = np.array([4.0, 2.0])
    whole, part = (LaneHits(np.array([3, 1]), scores, missing_score=lack) for lack in (0.0, 12.0))
    nothing = LaneHits.none()
    assert [hits.full_score for hits in (whole, part, nothing)] == [4.0, 16.0, 1.0]
    assert [len(hits) for hits in (whole, nothing)] == [2, 0]
    assert Candidates.by_keyword(part).scores.tolist() == [0.125, 0.25]


@pytest.mark.parametrize(
    ("top_k", "count"), [(1, 100), (50, 100), (51, 200), (100, 200), (101, 1_000), (900, 1_000)]
)
def test_candidate_count_is_one_of_a_few_depths(top_k: int, count: int) -> None:
    assert candidate_count(top_k) == count


@pytest.mark.parametrize(
    ("count", "reached"), [(1, 2), (12, 16), (16, 32), (17, 32), (512, 512), (600, 768)]
)
def test_selecting_the_best_sorts_few_others(count: int, reached: int) -> None:
    scores = np.arange(1024.0)
    assert np.count_nonzero(scores >= threshold(scores, count)) == reached
    assert best(np.arange(1024), scores, count).chunks.tolist() == [*range(1023, 1023 - count, -1)]
