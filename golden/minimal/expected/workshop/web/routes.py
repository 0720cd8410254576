"""The endpoints of every server (search and health), and JSON responses and requests."""

import asyncio
import os
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from functools import cache, partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic_core import from_json, to_json
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ..errors import InvalidRequestError
from ..index.reader import Index, current_index, served
from ..index.records import Record
from ..retrieval.filters import UNKNOWN_TIME, parse_time
from ..retrieval.results import Hit, SearchResponse
from ..retrieval.snippets import add_snippets
from .requests import AsyncSearch, SearchBody, SearchParameters

SWITCHES = frozenset({"facets"})
# How often, and at what interval, /readyz checks whether a new index is verified.
VERIFYING_TURNS, VERIFYING_TURN_SECONDS = 50, 0.02


class JsonResponse(Response):
    """A record or JSON values as compact UTF-8, four times as fast as `json`."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Serialise the content."""
        if not isinstance(content, Record):
            return to_json(content)
        # Same bytes as `to_json()`, without creating a dictionary per record.
        adapter = adapter_of(type(content))
        return adapter.dump_json(content, by_alias=True, exclude_defaults=True, warnings=False)


adapter_of: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


class StrictRequest(Request):
    """A request that rejects a body with NaN, infinities, lone surrogates or deep nesting."""

    async def json(self) -> Any:
        """Parse the body. Raises HTTPException 400."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(400, f"The body is not valid JSON: {error}.") from None


class JsonRoute(APIRoute):
    """A route whose body, if any, must be strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler; it parses bodies strictly, and rejects other media types (415)."""
        answer = super().get_route_handler()
        if self.body_field is None:
            return answer

        async def answer_json(request: Request) -> Response:
            media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if media_type != "application/json":
                raise HTTPException(415, "The body must be sent as application/json.")
            return await answer(StrictRequest(request.scope, request.receive))

        return answer_json


def in_event_loop(search: Callable[..., SearchResponse]) -> AsyncSearch:
    """Return a search that runs in the event loop, one call after the other.

    Searches only compute, for a millisecond or so. At 32 connections, threads handled a third fewer
    per second, because they contend for the interpreter lock. An encoder that waits for a service
    would block all requests, so it needs `in_threads`.
    """

    async def run(*arguments: Any, **options: Any) -> SearchResponse:
        return search(*arguments, **options)

    return run


def in_threads(search: Callable[..., SearchResponse]) -> AsyncSearch:
    """Return a search that runs in threads, so that waiting for a model does not block others."""
    return partial(run_in_threadpool, search)


def search_routes(search: AsyncSearch, switches: Collection[str] = ()) -> APIRouter:
    """Return POST /search and GET /search.

    `switches` are optional arguments that this server's search supports, such as `facets`.
    """
    routes = APIRouter(route_class=JsonRoute, tags=["search"])
    fields = SearchParameters.model_fields.items()
    lists = {name for name, field in fields if field.default == []}

    async def answer(arguments: dict[str, Any]) -> JsonResponse:
        has_snippets = arguments.pop("snippets")
        order = arguments.pop("sort")
        if not arguments["prefix"]:
            del arguments["prefix"]  # Only wrapped searches accept `prefix`.
        for name in SWITCHES.difference(switches):
            if arguments.pop(name):
                raise InvalidRequestError("this server was exported without it", field=name)
        found = await search(**arguments)
        if order == "date":
            found = newest_first(found)
        if has_snippets and found.hits:
            add_snippets(found, current_index().tokenizer)
        return JsonResponse(found)

    @routes.post("/search", response_model=SearchResponse)
    async def search_by_body(request: SearchBody) -> JsonResponse:
        """Rank passages for a query."""
        return await answer(dict(request))

    @routes.get("/search", response_model=SearchResponse)
    async def search_by_address(
        parameters: Annotated[SearchParameters, Query()], request: Request
    ) -> JsonResponse:
        """Rank passages for a query; the same response as POST."""
        for name in request.query_params.keys() - lists:
            if len(request.query_params.getlist(name)) > 1:
                raise InvalidRequestError("may be given only once", field=name)
        return await answer(parameters.search_arguments())

    return routes


def newest_first(found: SearchResponse) -> SearchResponse:
    """Sort the hits by date, newest first; those without one come last, ties keep their order."""

    def time_of(hit: Hit) -> int:
        return parse_time(hit.modified) if hit.modified else UNKNOWN_TIME

    return replace(found, hits=tuple(sorted(found.hits, key=time_of, reverse=True)))


def health_routes(
    **parts: Callable[[Index], dict[str, Any]],  # A part with a `detail` makes the server degraded.
) -> APIRouter:
    """Return GET /healthz and GET /readyz."""
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz", response_model=dict[str, str])
    async def healthz() -> JsonResponse:
        """Return whether the process responds at all."""
        return JsonResponse({"status": "ok"})

    @routes.get("/readyz", response_model=dict[str, Any])
    async def readyz() -> JsonResponse:
        """Return whether the index is open and undamaged; 503 until then.

        `problem` explains a `status` of `degraded`. `verified` means that every file matches its
        hash, which READY_UNVERIFIED=1 does not wait for.
        """
        for _ in range(VERIFYING_TURNS):
            index, state = current_index(), served.state
            if state.verified:
                break
            await asyncio.sleep(VERIFYING_TURN_SECONDS)
        if not (state.verified or os.environ.get("READY_UNVERIFIED") == "1"):
            detail = "Files of the index are being verified."
            raise HTTPException(503, detail, {"Retry-After": "1"})
        needed = {name: describe(index) for name, describe in parts.items()}
        problems = [state.problem, *(described.get("detail") for described in needed.values())]
        problem = next(filter(None, problems), None)
        return JsonResponse(
            {
                "status": "degraded" if problem else "ok",
                "problem": problem,
                "verified": state.verified,
                "index_version": index.version,
                "chunks": index.chunk_count,
                "documents": index.document_count,
                **needed,
            }
        )

    return routes
