"""Calls the owner's hooks around searches and requests; see `custom`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from .filters import parse_filters
from .journal import Mode
from .results import SearchResponse

if TYPE_CHECKING:
    from fastapi import FastAPI

Search = Callable[..., SearchResponse]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search request, from any interface."""

    query: str
    top_k: int
    filters: Mapping[str, tuple[str, ...]]
    mode: Mode = "hybrid"


@dataclass(frozen=True, slots=True)
class Caller:
    """An HTTP request before it is handled; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions that the server calls; each is optional.

    Attributes:
        before_search: Returns a replacement request; raise InvalidRequestError to reject it.
        after_search: Returns a replacement response. Its hits are sorted by their scores, which are
            clamped to [0, 1].
        authorise: Returns whether an HTTP request with a valid token may pass; not called for
            health checks. While it runs, no other request is handled, so it must be fast.
        add_routes: Adds your own routes, behind the same checks as all others.
    """

    before_search: Callable[[SearchRequest], SearchRequest] | None = None
    after_search: Callable[[SearchRequest, SearchResponse], SearchResponse] | None = None
    authorise: Callable[[Caller], bool] | None = None
    add_routes: Callable[[FastAPI], None] | None = None

    @property
    def check(self) -> Callable[[str, str, Mapping[str, str]], bool] | None:
        """The function that returns whether a request may pass, given method, path and headers.

        None without `authorise`. Raises ConfigurationError if `authorise` is async.
        """
        authorise = self.authorise
        if authorise is None:
            return None
        if iscoroutinefunction(authorise):
            # A coroutine is true, so every request would pass.
            problem = "custom.py: authorise is async, and the server would not await it"
            raise ConfigurationError(problem, hint="write `def` instead of `async def`")
        return lambda method, path, headers: authorise(Caller(method, path, headers))

    def open_routes(self, app: FastAPI) -> None:
        """Add the owner's routes, if any."""
        if self.add_routes is not None:
            self.add_routes(app)


def with_hooks(search: Search, hooks: Hooks) -> Search:
    """Wrap a search in hooks; return the search itself if there are none."""
    before, after = hooks.before_search, hooks.after_search
    if before is None and after is None:
        return search

    @wraps(search)
    def search_with_hooks(query: str, top_k: int = 10, **options: Any) -> SearchResponse:
        filters = parse_filters(options.get("filters"))
        request = SearchRequest(query, top_k, filters, options.get("mode", "hybrid"))
        if before is not None:
            request = before(request)
        options |= {"filters": request.filters, "mode": request.mode}
        response = search(request.query, request.top_k, **options)
        if after is not None:
            response = after(request, response)
            # Python's `max` returns 0 for NaN.
            hits = sorted(response.hits, key=lambda hit: max(0.0, hit.score), reverse=True)
            bounded = (replace(hit, score=min(1.0, max(0.0, hit.score))) for hit in hits)
            response = replace(response, hits=tuple(bounded))
        return response

    return search_with_hooks
