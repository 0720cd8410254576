"""The keyword lane over many postings finds the same as a plain sum over all of them.

Impacts are multiples of a sixteenth, so sums are exact in any order; many are equal.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from workshop.retrieval.keyword_lane import KeywordLane

CHUNK_COUNT = 50_000
SIZES = {"the": 45_000, "of": 20_000, "pump": 900, "seal": 700, "valve": 300, "one": 1}
Allowed = NDArray[np.bool_] | None


class Postings:
    """Random postings: each term's chunks number `sizes`; its highest impact is `most`, or 4."""

    def __init__(
        self, sizes: dict[str, int], chunk_count: int, most: dict[str, float], seed: int = 3
    ) -> None:
        chooser = np.random.default_rng(seed)
        self.chunk_count = chunk_count
        self.of_term: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for term, size in sizes.items():
            chunks = np.sort(chooser.permutation(chunk_count)[:size])
            impacts = chooser.integers(1, int(16 * most.get(term, 4)) + 1, size) / 16
            self.of_term[term] = chunks, impacts

    def lane(self) -> KeywordLane:
        """Return the lane of these postings."""
        ends = np.cumsum([0, *(len(chunks) for chunks, _ in self.of_term.values())]).tolist()
        places = dict(zip(self.of_term, pairwise(ends), strict=True))
        return KeywordLane(
            lambda term: places.get(term, (0, 0)),
            np.concatenate([chunks for chunks, _ in self.of_term.values()]).astype(np.uint32),
            np.concatenate([impacts for _, impacts in self.of_term.values()]).astype(np.float32),
            self.chunk_count,
        )

    def sums(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the scores of all chunks: the impacts of each term, as often as it is repeated."""
        scores = np.zeros(self.chunk_count)
        for term in filter(self.of_term.__contains__, terms):
            chunks, impacts = self.of_term[term]
            scores[chunks] += impacts
        return scores

    def check(self, terms: Sequence[str], *counts: int, allowed: Allowed = None) -> None:
        """Compare searches with sorted sums."""
        lane, scores = self.lane(), self.sums(terms)
        found = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed)
        expected = found[np.argsort(-scores[found], kind="stable")]
        for count in counts:
            hits = lane.search(terms, count, allowed)
            assert np.array_equal(hits.chunks, expected[:count])
            assert np.array_equal(hits.scores, scores[expected[:count]])
            if hits.score_of is not None:
                assert np.array_equal(hits.score_of(np.arange(self.chunk_count)), scores)


LONG = Postings(SIZES, CHUNK_COUNT, most={"the": 1, "of": 1})
"""The best chunks contain rare terms, so frequent ones need not be summed for all chunks."""

HEAVY = Postings(SIZES, CHUNK_COUNT, most={"the": 9, "of": 9})
"""A frequent term alone can make a chunk one of the best."""


@pytest.mark.parametrize("postings", [LONG, HEAVY], ids=["long", "heavy"])
@pytest.mark.parametrize(
    "terms",
    [
        [*SIZES],
        ["the", "of", "valve", "valve", "valve"],
        ["the", "the", "of", "pump", "unknown"],
        ["the", "one"],
        ["the", "of"],
        ["of", "pump", "seal"],
        ["pump", "seal", "valve", "pump"],
    ],
    ids=" ".join,
)
def test_frequent_and_rare_terms_together(postings: Postings, terms: list[str]) -> None:
    postings.check(terms, 1, 10, 200, 3_000)


@pytest.mark.parametrize("share", [0.5, 0.05, 0.001, 0.0])
def test_frequent_terms_among_allowed_chunks(share: float) -> None:
    allowed = np.random.default_rng(4).random(CHUNK_COUNT) < share
    for postings in (LONG, HEAVY):
        postings.check([*SIZES], 10, 100, allowed=allowed)


@pytest.mark.parametrize("seed", range(4))
def test_frequent_terms_decide_among_those_with_rare_ones(seed: int) -> None:
    postings = Postings(SIZES, CHUNK_COUNT, {"the": 1.5, "of": 1}, seed)
    postings.check([*SIZES], 20, 100)


@pytest.mark.parametrize("lifted", [2.0625, 2.125, 2.1875])
def test_frequent_terms_together_lift_a_chunk_to_the_best(lifted: float) -> None:
    everywhere = np.arange(CHUNK_COUNT)
    postings = Postings({}, CHUNK_COUNT, {})
    for term in ("the", "of"):
        postings.of_term[term] = everywhere, np.where(everywhere == 5, 1.0, 0.0625)
    # This term gives 4 to the best 100 chunks, and slightly less to the next 300.
    impacts = np.concatenate([[lifted], np.full(100, 4.0), np.full(300, 3.9375)])
    postings.of_term["pump"] = everywhere[5 : 5 + len(impacts)], impacts
    postings.check(["the", "of", "pump"], 100)


@pytest.mark.parametrize("total", [31_999, 32_000, 32_001, 32_008, 40_000])
def test_around_the_limit_for_summing_all_postings(total: int) -> None:
    sizes = {"the": total - 1_600, "pump": 900, "seal": 700}
    Postings(sizes, CHUNK_COUNT, {"the": 1}).check([*sizes], 50)


@pytest.mark.parametrize("total", [10, 999, 1_000, 1_001, 8_000])
def test_around_the_limit_for_a_dense_array(total: int) -> None:
    # If postings exceed an eighth of the chunks, which is 1,000, an array of all chunks is used.
    postings = Postings({"pump": total // 2, "seal": total - total // 2}, 8_000, {})
    allowed = np.random.default_rng(4).random(8_000) < 0.5
    for terms in (["pump", "seal"], ["seal", "pump", "seal"]):
        postings.check(terms, 1, 100)
        postings.check(terms, 1, 100, allowed=allowed)


def test_equal_scores_are_in_the_order_of_the_index() -> None:
    everywhere = np.arange(CHUNK_COUNT)
    postings = Postings({}, CHUNK_COUNT, {})
    postings.of_term = {
        "the": (everywhere, np.full(CHUNK_COUNT, 0.25)),
        "pump": (everywhere[5::50], np.full(1_000, 4.0)),
        "seal": (everywhere[5::100], np.full(500, 2.0)),
    }
    postings.check(["the", "pump", "seal"], 1, 100, 499, 501, 1_001)


def test_scores_of_given_chunks() -> None:
    for terms in ([*SIZES], ["the", "pump", "pump"], ["unknown"], []):
        chunks = np.arange(3, CHUNK_COUNT, 7)
        assert np.array_equal(LONG.lane().scores(terms, chunks), LONG.sums(terms)[chunks])
