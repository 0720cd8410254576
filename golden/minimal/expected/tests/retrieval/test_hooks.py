"""The owner's search hooks: replaced requests, and scores of replaced responses."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from samples import sample_hit

from workshop.errors import ConfigurationError
from workshop.retrieval.hooks import Caller, Hooks, SearchRequest, with_hooks
from workshop.retrieval.journal import Journal
from workshop.retrieval.results import Hit, SearchResponse, respond


def hit(name: str, score: Any) -> Hit:
    return sample_hit(id=name, score=score)


def search_giving(*scores: Any) -> Callable[..., SearchResponse]:
    """A search whose hits `a`, `b` ... get these scores from the hook."""
    hits = tuple(hit(chr(ord("a") + n), score) for n, score in enumerate(scores))

    def search(query: str, top_k: int = 10, **_: Any) -> SearchResponse:
        return respond(Journal(query, top_k), iter(()), "strong")

    def after(_: SearchRequest, response: SearchResponse) -> SearchResponse:
        return replace(response, hits=hits)

    return with_hooks(search, Hooks(after_search=after))


def found(*scores: Any) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in search_giving(*scores)("seal").hits]


def test_scores_of_hooks_are_clamped() -> None:
    assert found(7.5, 0.5, -0.1) == [("a", 1.0), ("b", 0.5), ("c", 0.0)]
    assert found(math.inf, -math.inf) == [("a", 1.0), ("b", 0.0)]


def test_hits_of_hooks_are_sorted_by_score() -> None:
    assert found(0.4, 3.0, 2.0, 2.0) == [("b", 1.0), ("c", 1.0), ("d", 1.0), ("a", 0.4)]


def test_a_score_that_is_not_a_number_is_0() -> None:
    assert found(math.nan, 0.5) == [("b", 0.5), ("a", 0.0)]


def test_before_search_replaces_the_request() -> None:
    asked: list[Any] = []

    def search(query: str, top_k: int = 10, **options: Any) -> SearchResponse:
        asked.append((query, top_k, options))
        return respond(Journal(query, top_k), iter(()), "strong")

    assert with_hooks(search, Hooks()) is search
    hooks = Hooks(before_search=lambda request: replace(request, query=request.query.lower()))
    assert with_hooks(search, hooks)("SEAL", 3, filters={"tags": "a"}).query == "seal"
    options: dict[str, Any] = {"filters": {"tags": ("a",)}, "mode": "hybrid"}
    assert asked == [("seal", 3, options)]


def test_an_async_authorise_is_refused() -> None:
    async def authorise(_: Caller) -> bool:
        return False

    hook: Any = authorise
    with pytest.raises(ConfigurationError, match="async"):
        _ = Hooks(authorise=hook).check
    check = Hooks(authorise=lambda caller: caller.path == "/").check
    assert check is not None
    assert [check("GET", path, {}) for path in ("/", "/search")] == [True, False]
