"""The endpoints of every server: search and health."""

import asyncio
import os
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException

from ..index.reader import Index, current_index, served
from ..retrieval.results import SearchResponse
from ..retrieval.settings import InvalidRequestError
from ..retrieval.tokens import Tokenizer
from .json import PROBLEM_RESPONSES, JsonResponse, JsonRoute
from .requests import (
    AsyncSearch,
    SearchArguments,
    SearchParameters,
    ShownSearchParameters,
    ShownSearchRequest,
)

# For an index that has just been opened, /readyz waits.
VERIFYING_TURN_SECONDS = 0.02
VERIFYING_TURNS = 50


def in_event_loop(search: Callable[..., SearchResponse]) -> AsyncSearch:
    """Run searches one after the other.

    They only compute, for a millisecond or so: at 32 connections, threads, which contend for the
    interpreter lock, were measured to answer a third fewer per second.
    """

    async def run(*arguments: Any, **options: Any) -> SearchResponse:
        return search(*arguments, **options)

    return run


def search_routes(
    search: AsyncSearch,
    show: Callable[[SearchResponse, Tokenizer], SearchResponse] | None = None,
    response_model: type[SearchResponse] = SearchResponse,
) -> APIRouter:
    """POST /search and GET /search, both answered by `search`.

    `show` adds the snippets to a response, which is then of the `response_model`.
    """
    routes = APIRouter(route_class=JsonRoute, tags=["search"], responses=PROBLEM_RESPONSES)

    async def answer(*, snippets: bool = False, **arguments: Any) -> JsonResponse:
        found = await search(**arguments)
        if show and snippets and found.hits:
            found = show(found, current_index().tokenizer)
        return JsonResponse(found)

    async def search_by_body(request: SearchArguments) -> JsonResponse:
        """Rank passages for a query."""
        return await answer(**dict(request))

    async def search_by_address(
        parameters: Annotated[SearchParameters, Query()], request: Request
    ) -> JsonResponse:
        """Rank passages for a query; the same response as POST."""
        for name in request.query_params.keys() - {"source", "tag", "filter"}:
            if len(request.query_params.getlist(name)) > 1:
                raise InvalidRequestError("may be given only once", field=name)
        return await answer(**parameters.search_arguments())

    if show is not None:
        # FastAPI takes the models of requests from here.
        search_by_body.__annotations__["request"] = ShownSearchRequest
        search_by_address.__annotations__["parameters"] = Annotated[ShownSearchParameters, Query()]
    routes.post("/search", response_model=response_model)(search_by_body)
    routes.get("/search", response_model=response_model)(search_by_address)
    return routes


def health_routes(**parts: Callable[[Index], dict[str, Any]]) -> APIRouter:
    """GET /healthz and GET /readyz; a `detail` of one of the `parts` makes the server degraded."""
    routes = APIRouter(tags=["health"], responses=PROBLEM_RESPONSES)

    @routes.get("/healthz", response_model=dict[str, str])
    async def healthz() -> JsonResponse:
        """Return whether the process answers at all."""
        return JsonResponse({"status": "ok"})

    @routes.get("/readyz", response_model=dict[str, Any])
    async def readyz() -> JsonResponse:
        """Return whether the index is open and undamaged; 503 until then.

        `problem` says why if `status` is `degraded` and not `ok`. `verified` says that every file
        agrees with its hash, which READY_UNVERIFIED=1 does not wait for.
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
