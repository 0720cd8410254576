"""The cache of answers: what it takes for the same question, what it keeps, and how much."""

import itertools
import sys
from collections.abc import Callable
from dataclasses import replace
from sys import getsizeof
from types import SimpleNamespace
from typing import Any

import pytest

from foundry.runtime.errors import InvalidRequestError
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.candidates import observers
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Highlights, SearchResponse, respond
from foundry.runtime.web.answer_cache import ENTRY_BYTES, AnswerCache, is_lasting

answer_cache = sys.modules[AnswerCache.__module__]
FOUND = replace(respond(Journal(""), iter(()), "none"), took_ms=-1.0)


class Search:
    """A search that tells how often it was asked in the query of its response."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def __call__(self, query: str, top_k: int = 10, **options: Any) -> SearchResponse:
        self.asked.append((query, top_k, options))
        return replace(FOUND, query=f"{len(self.asked)} of {query!a}")


class Index:
    """One that is served, of which nothing but its identity matters here."""


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[Index], None]:
    """Return what exchanges the index that is served."""
    serving = SimpleNamespace(index=Index())
    monkeypatch.setattr(answer_cache, "current_index", lambda: serving.index)
    return lambda index: setattr(serving, "index", index)


@pytest.fixture
def cache(serve: Callable[[Index], None]) -> AnswerCache:
    del serve
    return AnswerCache(1)


def test_what_was_asked_before_is_not_searched_again(cache: AnswerCache) -> None:
    search = Search()
    remembered = cache.remember(search)
    first = remembered("seal", 3, facets=True, filters={"tags": ["b", "a"]})
    again = remembered("seal", 3, facets=True, filters={"tags": ("b", "a")})
    assert (first.query, first.took_ms) == ("1 of 'seal'", -1.0)
    assert again == replace(first, took_ms=again.took_ms)
    assert 0 <= again.took_ms < 1_000_000
    assert search.asked == [("seal", 3, {"facets": True, "filters": {"tags": ["b", "a"]}})]
    assert (again is first, again.stages is first.stages) == (False, False)


def test_all_that_a_request_says_tells_it_from_others(cache: AnswerCache) -> None:
    remembered = cache.remember(Search())
    requests: list[tuple[str, int, dict[str, Any]]] = [
        ("seal", 10, {}),
        ("Seal", 10, {}),
        ("seal ", 10, {}),
        ("seal", 9, {}),
        ("seal", 10, {"mode": "keyword"}),
        ("seal", 10, {"mode": "semantic"}),
        ("seal", 10, {"filters": {"tags": ["a"]}}),
        ("seal", 10, {"filters": {"tags": ["a, b"]}}),
        ("seal", 10, {"filters": {"tags": ["a", "b"]}}),
        ("seal", 10, {"filters": {"source": ["a"]}}),
        ("seal", 10, {"facets": True}),
        ("seal", 10, {"facets": False}),
        ("\udc80", 10, {}),
        ("\udc81", 10, {}),
    ]
    numbers = range(1, len(requests) + 1)
    for _ in range(2):
        found = [remembered(query, top_k, **options) for query, top_k, options in requests]
        assert [each.query.partition(" ")[0] for each in found] == [*map(str, numbers)]
    assert remembered("seal", filters=None).query == "1 of 'seal'"


def test_each_index_has_its_own_answers(cache: AnswerCache, serve: Callable[[Index], None]) -> None:
    remembered, indexes = cache.remember(Search()), (Index(), Index())
    for _ in range(2):
        for index, number in zip(indexes, (1, 2), strict=True):
            serve(index)
            assert remembered("seal").query == f"{number} of 'seal'"
    # One that is gone leaves its place to nobody, wherever the next one lies in memory.
    del indexes
    for number in range(3, 20):
        serve(Index())
        assert remembered("seal").query == f"{number} of 'seal'"


def test_an_answer_is_of_its_day(cache: AnswerCache, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(0, 0.0025)
    clock = SimpleNamespace(now=86_400 * 20_000.0, perf_counter=ticks.__next__)
    clock.time = lambda: clock.now
    monkeypatch.setattr(answer_cache, "time", clock)
    remembered, times = cache.remember(Search()), []
    for moment, query in ((0, "1 of 'seal'"), (86_399.9, "1 of 'seal'"), (86_400, "2 of 'seal'")):
        clock.now = 86_400 * 20_000.0 + moment
        found = remembered("seal")
        assert found.query == query
        times.append(found.took_ms)
    assert times == [-1.0, 2.5, -1.0]


@pytest.mark.parametrize(
    ("changes", "lasts"),
    [
        ({}, True),
        # [vectors
        ({"reason": "no_vectors", "degraded": True}, True),
        # ]
        ({"stages": {"rerank": {"reranked": 10}, "budgets": {}}}, True),
        # [service
        ({"reason": "embedder_unavailable"}, False),
        # ]
        ({"stages": {"one": {}, "rerank": {"failed": "The service does not answer."}}}, False),
        ({"stages": {"budget": {"stopped": ["terms"]}}}, False),
    ],
)
def test_what_may_be_better_another_time_is_not_kept(
    cache: AnswerCache, changes: dict[str, Any], lasts: bool
) -> None:
    asked = itertools.count(1)
    response = replace(FOUND, **changes)
    remembered = cache.remember(lambda *_, **__: replace(response, query=str(next(asked))))
    assert is_lasting(response) is lasts
    assert [remembered("x").query for _ in range(2)] == ["1", "1" if lasts else "2"]
    assert (cache.size_bytes > 0) is lasts


def test_errors_are_those_of_the_search(cache: AnswerCache) -> None:
    def search(query: str, *_: object, **__: object) -> SearchResponse:
        raise InvalidRequestError("is empty", field="query")

    remembered = cache.remember(search)
    for filters in ({"tags": ["a"]}, {"tags": 3}):
        with pytest.raises(InvalidRequestError, match="is empty"):
            remembered("", filters=filters)
    assert cache.size_bytes == 0


def test_what_was_asked_for_last_stays_within_the_bound(cache: AnswerCache) -> None:
    search = Search()
    remembered = cache.remember(search)
    remembered("a")
    one = cache.size_bytes
    assert one > ENTRY_BYTES
    cache.most_bytes = 3 * one
    for query in "bcaba":
        remembered(query)
    assert cache.size_bytes == 3 * one
    assert [query for query, *_ in search.asked] == ["a", "b", "c"]
    remembered("d")  # In place of c, which was asked for longest ago.
    assert cache.size_bytes == 3 * one
    for query in "abd":
        remembered(query)
    assert len(search.asked) == 4
    remembered("c")
    assert [query for query, *_ in search.asked] == [*"abcdc"]


def test_what_is_larger_than_all_is_not_kept(cache: AnswerCache) -> None:
    remembered = cache.remember(Search())
    remembered("a")
    small = cache.size_bytes
    remembered("b" * 2_000)
    large = cache.size_bytes - small
    for bound, kept in ((large - 1, 0), (large, large)):
        again = AnswerCache(1)
        assert again.most_bytes == 1_000_000
        again.most_bytes = bound
        again.remember(Search())("b" * 2_000)
        assert again.size_bytes == kept


def test_sizes_are_those_of_what_is_kept(cache: AnswerCache) -> None:
    cache.remember(Search())("seal")
    ((key, kept),) = cache._kept.items()
    assert cache.size_bytes == ENTRY_BYTES + getsizeof(key[1]) + getsizeof(kept)
    # Kept twice, as by two threads that asked at once, it counts once.
    cache._keep(key, SearchResponse, FOUND)
    ((_, kept),) = cache._kept.items()
    assert cache.size_bytes == ENTRY_BYTES + getsizeof(key[1]) + getsizeof(kept)


def test_answers_from_memory_are_counted_as_a_stage(cache: AnswerCache) -> None:
    told: list[str] = []
    observers.append(lambda name, _: told.append(name))
    try:
        remembered = cache.remember(Search())
        for query in ("a", "b", "a", "a"):
            remembered(query)
    finally:
        observers.pop()
    assert told == ["answer_cache", "answer_cache"]


# [snippets
def test_snippets_are_made_once_for_what_hits_say(
    cache: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    tokenizer = Tokenizer("english")

    def make(response: Any, given: Tokenizer) -> None:
        assert given is tokenizer
        for hit in response.hits:
            made.append(hit.text)
            hit.snippet, hit.highlights = f"{hit.text} {len(made)}", Highlights([(0, 2)], [], [[]])
            hit.snippet_code = ((2, 3),)

    monkeypatch.setattr(answer_cache, "add_snippets", make)
    first: dict[str, Any] = {
        "id": "c1",
        "path": "a.md",
        "title": "Seal",
        "section": ["Oil"],
        "text": "Oil it.",
    }
    others: list[dict[str, Any]] = [
        {},
        {"id": "c2"},
        {"path": "b.md"},
        {"title": "Oil"},
        {"section": []},
        {"text": "No."},
    ]
    for number, changes in enumerate(others, 1):
        for _ in range(2):
            hit = SimpleNamespace(**(first | changes))
            found: Any = SimpleNamespace(query="oil", hits=[hit])
            cache.add_snippets(found, tokenizer)
            assert hit.snippet == f"{hit.text} {number}"
            assert hit.highlights == Highlights([(0, 2)], [], [[]])
            assert hit.snippet_code == ((2, 3),)
    hit = SimpleNamespace(**first)
    found = SimpleNamespace(query="seal", hits=[hit])
    cache.add_snippets(found, tokenizer)
    assert (hit.snippet, len(made)) == ("Oil it. 7", 7)


# ]
