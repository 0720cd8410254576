"""Weights by the match, and the notes in the response."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from samples import sample_candidates

from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.hybrid import Weights
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.weights_by_match import weigh_by_match

INDEX: Any = SimpleNamespace(manifest=SimpleNamespace(dense={"background": 0.2}))


TOKENIZER = Tokenizer("english")


def candidates(*, coverage: float, doubted: bool = False) -> Candidates:
    """One candidate with a cosine of 0.4: its nearness is 0.25, a strong match needs 0.59."""
    return sample_candidates([0.4], semantic=[0.4], coverage=coverage, doubted=doubted)


@pytest.mark.parametrize(
    ("found", "weights", "expected"),
    [
        # 0.25 + 1.8 x 0.1 is less than 0.59, and 0.25 + 1.8 x 0.2 is more.
        (candidates(coverage=0.1), Weights(0.7, 0.3), (0.9, 0.1)),
        (candidates(coverage=0.2), Weights(0.7, 0.3), (0.7, 0.3)),
        (candidates(coverage=0.2, doubted=True), Weights(0.7, 0.3), (0.9, 0.1)),
        # The weights of a search need not sum to 1.
        (candidates(coverage=0.1), Weights(7, 3), (0.9, 0.1)),
        (candidates(coverage=0.1), Weights(19, 1), (19, 1)),
        (candidates(coverage=0.1), Weights(1, 0), (1, 0)),
    ],
)
def test_keywords_weigh_less_without_a_strong_match(
    found: Candidates, weights: Weights, expected: tuple[float, float]
) -> None:
    journal, tokens = Journal(), TOKENIZER.tokenize("what keeps water in")
    weighed = weigh_by_match(weights, INDEX, found, tokens, (), journal, keyword_weight=0.1)
    assert weighed == expected
    is_changed = expected != weights
    noted = {"weights_by_match": {"semantic": 0.9, "keyword": 0.1}}
    assert journal.stages == (noted if is_changed else {})
    told = ("No match is strong, so keywords weigh 0.1 instead of 0.3.",)
    assert journal.explain() == (told if is_changed else ())


@pytest.mark.parametrize(("query", "patterns"), [("seal of D40", ()), ("the seal", ("seal",))])
def test_a_query_with_an_identifier_keeps_its_weights(
    query: str, patterns: tuple[str, ...]
) -> None:
    tokens, weights = TOKENIZER.tokenize(query), Weights(0.7, 0.3)
    asked = weights, INDEX, candidates(coverage=0.1), tokens, [*map(re.compile, patterns)]
    assert weigh_by_match(*asked, Journal(), keyword_weight=0.1) is weights
