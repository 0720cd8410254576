"""Weights by the share of identifiers in a query."""

import re

import pytest

from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.hybrid import Weights
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.adaptive_weights import adapt_weights, identifier_share

tokenizer = Tokenizer("english")
WEIGHTS = Weights(0.7, 0.3)


@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("How is the seal replaced", 0),  # seal, replaced
        ("the of", 0),
        ("Tell me about D40", 1 / 3),  # tell, about, D40
        ("What does 30 CFR 75.1725 require?", 3 / 4),  # 30, CFR, 75.1725; require
        ("max_connections HTTPServer limit", 2 / 3),
        ("D40", 1),
        ("the NASA rover 7 pump", 0),  # acronyms and numbers that are not next to an identifier
    ],
)
def test_share_of_identifiers(query: str, share: float) -> None:
    assert identifier_share(tokenizer.tokenize(query)) == pytest.approx(share)


def test_own_patterns_are_identifiers() -> None:
    tokens = tokenizer.tokenize("reset widget")
    assert identifier_share(tokens, [re.compile("wid.*")]) == 0.5


@pytest.mark.parametrize(
    ("query", "weights", "note"),
    [
        ("How is the seal replaced", (0.7, 0.3), None),
        ("Tell me about D40", (0.5, 0.5), {"semantic": 0.5, "keyword": 0.5}),
        ("max_connections HTTPServer limit", (0.3, 0.7), {"semantic": 0.3, "keyword": 0.7}),
        # Shares of exactly 0.5 and 0.2 are not above the limits.
        ("D40 hall", (0.5, 0.5), {"semantic": 0.5, "keyword": 0.5}),
        ("D40 big old cold hall", (0.7, 0.3), None),
    ],
)
def test_adaptive_weights(
    query: str, weights: tuple[float, float], note: dict[str, float] | None
) -> None:
    journal = Journal()
    adapted = adapt_weights(
        WEIGHTS,
        tokenizer.tokenize(query),
        (),
        journal,
        mostly=0.5,
        mostly_semantic_weight=0.3,
        partly=0.2,
        partly_semantic_weight=0.5,
    )
    assert adapted == weights
    assert journal.stages == ({} if note is None else {"adaptive_weights": note})


def test_unknown_identifiers_adapt_no_weights() -> None:
    journal = Journal()
    journal.unknown_identifiers = ("D41",)
    share = {"mostly": 0.5, "partly": 0.2}
    weights = {"mostly_semantic_weight": 0.3, "partly_semantic_weight": 0.5}
    tokens = tokenizer.tokenize("D41")
    assert adapt_weights(WEIGHTS, tokens, (), journal, **share, **weights) == (0.7, 0.3)
    assert journal.stages == {}


def test_keywords_have_the_rest_to_six_places() -> None:
    adapted = adapt_weights(
        WEIGHTS,
        tokenizer.tokenize("D40"),
        (),
        Journal(),
        mostly=0.5,
        mostly_semantic_weight=0.1234567,
        partly=0.2,
        partly_semantic_weight=0.5,
    )
    assert adapted == (0.1234567, 0.876543)
