"""Parts of words: which of the query's parts a result contains, with numbers computed by hand."""

import math
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.word_parts import boost_word_parts, find_parts

TOKENIZER = Tokenizer("german")


def index_of(texts: Sequence[str]) -> Any:
    chunks = [SimpleNamespace(text=text, headings=lambda: ["Haus"]) for text in texts]
    return SimpleNamespace(chunks=partial(map, chunks.__getitem__))


def candidates(scores: Sequence[float]) -> Candidates:
    values = np.array(scores, dtype=np.float64)
    return Candidates.by_keyword(LaneHits(np.arange(len(scores)), values)).with_scores(values)


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("Rohr", [" rohr", "rohr "]),
        ("Rohre?", [" rohr", "rohre", "ohre "]),
        ("Rohr rohr", [" rohr", "rohr "]),
        ("das Öl", []),
        ("max_open C++ B2B 2024 10.5", []),
        ("गाँव", [" गाँव", "गाँव "]),
        ("水道管", []),
        ("", []),
    ],
)
def test_parts(query: str, parts: list[str]) -> None:
    assert find_parts(TOKENIZER.tokenize(query)) == parts


def test_a_compound_is_found_by_its_parts() -> None:
    texts = ["Das Dach ist neu.", "Alte\nWASSERROHRE tropfen.", "Ein Rohr.", "Rohr, nicht gelesen."]
    tokens = TOKENIZER.tokenize("Rohr")
    found = boost_word_parts(
        candidates([0.9, 0.8, 0.7, 0.6]), index_of(texts), tokens, Journal(), hits=3, gain=0.5
    )
    # The third text contains ` rohr`, and none contains `rohr `; the fourth is not read.
    assert found.boosts["word_parts"].tolist() == pytest.approx([1, 1, 1.5, 1])
    longer = TOKENIZER.tokenize("Rohre")
    found = boost_word_parts(
        candidates([0.9, 0.8, 0.7, 0.6]), index_of(texts), longer, Journal(), hits=3, gain=0.5
    )
    # The third text contains ` rohr`, and the second `rohre` and `ohre `: each is in one of three.
    assert found.boosts["word_parts"].tolist() == pytest.approx([1, 1.5, 1.25, 1])
    assert found.scores == pytest.approx([0.6, 0.8, 0.7 * 1.25 / 1.5, 0.4], abs=1e-6)


def test_what_fewer_results_have_counts_for_more() -> None:
    tokens = TOKENIZER.tokenize("Rohre")
    texts = ["Fernrohre", "Wasserrohre", "ein Rohr"]
    found = boost_word_parts(
        candidates([0.9, 0.9, 0.9]), index_of(texts), tokens, Journal(), hits=3, gain=1.0
    )
    # `rohre` and `ohre ` are in two of three texts, ` rohr` in one.
    common, rare = 2 * math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    largest = max(common, rare)
    expected = [1 + common / largest, 1 + common / largest, 1 + rare / largest]
    assert found.boosts["word_parts"].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("scores", "query"), [([], "Rohr"), ([0.8], "D40"), ([0.8], "Fenster")])
def test_nothing_shared_keeps_the_order(scores: list[float], query: str) -> None:
    index = index_of(["Ein Rohr."] * len(scores))
    found = boost_word_parts(
        candidates(scores), index, TOKENIZER.tokenize(query), Journal(), hits=9, gain=0.5
    )
    assert found.best_places().tolist() == list(range(len(scores)))
