"""The HTTP doors: search, what the index holds, health."""

import asyncio
import os
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from ..index.errors import IndexUnusableError
from ..index.records import ChunkRecord
from ..index.served import current_index, served
from ..retrieval.results import Mode, SearchResponse
from .answers import (
    ChunkPlace,
    DocumentContents,
    DocumentPage,
    Health,
    ReadinessPart,
    SourceList,
    readiness_of,
)
from .json import JsonResponse, JsonRoute, once
from .problems import PROBLEM_RESPONSES
from .requests import PageParameters, SearchParameters, SearchRequest
from .runner import AsyncSearch

VERIFYING_SECONDS = 1.0
"""How long /readyz waits for an index that has just been opened."""

VERIFYING_TURN_SECONDS = 0.02


def search_routes(search: AsyncSearch) -> APIRouter:
    """POST /search and GET /search, both answered by `search`."""
    routes = APIRouter(route_class=JsonRoute, tags=["search"], responses=PROBLEM_RESPONSES)

    async def answer(
        query: str, top_k: int, mode: Mode, filters: dict[str, Any] | None
    ) -> JsonResponse:
        return JsonResponse(await search(query, top_k, mode=mode, filters=filters))

    @routes.post("/search", response_model=SearchResponse)
    async def search_by_body(request: SearchRequest) -> JsonResponse:
        """Rank passages for a query."""
        return await answer(request.query, request.top_k, request.mode, request.filters)

    @routes.get("/search", response_model=SearchResponse, dependencies=[once(SearchParameters)])
    async def search_by_address(
        parameters: Annotated[SearchParameters, Query()],
    ) -> JsonResponse:
        """Rank passages for a query; the same answer as POST."""
        return await answer(parameters.q, parameters.top_k, parameters.mode, parameters.filters())

    return routes


content_routes = APIRouter(tags=["content"], responses=PROBLEM_RESPONSES)


# `:path`, because ids may contain slashes.
@content_routes.get("/chunks/{chunk_id:path}", response_model=ChunkRecord)
async def chunk(chunk_id: str) -> JsonResponse:
    """Return one passage, verbatim."""
    record = current_index().find_chunk(chunk_id)
    if record is None:
        raise HTTPException(404, "There is no chunk with this id.")
    return JsonResponse(record)


@content_routes.get("/documents", response_model=DocumentPage, dependencies=[once(PageParameters)])
async def documents(parameters: Annotated[PageParameters, Query()]) -> JsonResponse:
    """Return the documents of the index, in the order of the index."""
    index = current_index()
    page = index.documents(parameters.offset, parameters.limit)
    return JsonResponse(DocumentPage(index.document_count, parameters.offset, page))


@content_routes.get(
    "/documents/{document_id:path}",
    response_model=DocumentContents,
    dependencies=[once(PageParameters)],
)
async def document(
    document_id: str, parameters: Annotated[PageParameters, Query()]
) -> JsonResponse:
    """Return one document, with the ids and places of some of its `chunks` chunks, from `offset`
    on.

    /chunks has their text.
    """
    index = current_index()
    record = index.find_document(document_id)
    if record is None:
        raise HTTPException(404, "There is no document with this id.")
    contents = [
        ChunkPlace(chunk.id, chunk.section, chunk.position)
        for chunk in index.chunks_of(record, parameters.offset, parameters.limit)
    ]
    return JsonResponse(DocumentContents(**record.to_json(), contents=contents))


@content_routes.get("/sources", response_model=SourceList)
async def sources() -> JsonResponse:
    """Return where the documents come from."""
    return JsonResponse(SourceList(current_index().sources()))


def health_routes(*parts: ReadinessPart) -> APIRouter:
    """GET /healthz and GET /readyz, which also asks `parts` other than the index."""
    routes = APIRouter(tags=["health"], responses=PROBLEM_RESPONSES)
    readiness = readiness_of(*parts)

    @routes.get("/healthz", response_model=Health)
    async def healthz() -> JsonResponse:
        """Return whether the process answers at all."""
        return JsonResponse(Health("ok"))

    @routes.get("/readyz", response_model=readiness)
    async def readyz() -> JsonResponse:
        """Return whether the index is open, and every file of it is as it should be; 503 until
        then.

        With READY_UNVERIFIED=1 it need not have been compared with its hashes yet.
        """
        try:
            index = current_index()
            is_known = await _verified() or os.environ.get("READY_UNVERIFIED") == "1"
            index = current_index()
        except IndexUnusableError:
            if not (damage := served.state.damage):
                raise
            detail = f"Files of the index are damaged: {'; '.join(damage)}"
            raise HTTPException(503, detail) from None
        if not is_known:
            raise HTTPException(
                503, "Files of the index are being verified.", headers={"Retry-After": "1"}
            )
        answers = {part.name: part.describe(index) for part in parts}
        problems = [served.state.problem, *(answer.get("detail") for answer in answers.values())]
        problem = next(filter(None, problems), None)
        return JsonResponse(
            readiness(
                status="degraded" if problem else "ok",
                problem=problem,
                verified=served.state.verified,
                index_version=index.version,
                chunks=index.chunk_count,
                documents=index.document_count,
                **answers,
            )
        )

    return routes


async def _verified() -> bool:
    """Return whether the index has been found to be undamaged, or will be in a moment."""
    for _ in range(int(VERIFYING_SECONDS / VERIFYING_TURN_SECONDS)):
        if served.state.verified or served.state.damage:
            break
        await asyncio.sleep(VERIFYING_TURN_SECONDS)
    return served.state.verified
