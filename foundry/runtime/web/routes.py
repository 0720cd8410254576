"""The HTTP endpoints: search, what the index holds, health."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException

from ..index.reader import Index, current_index, served
from ..index.records import ChunkRecord, DocumentAnswer, DocumentRecord, Record, SourceList
from ..retrieval.results import SearchResponse
from ..retrieval.settings import InvalidRequestError
from ..retrieval.snippets import ShownResponse, with_snippets
from .json import PROBLEM_RESPONSES, JsonResponse, JsonRoute
from .requests import AsyncSearch, PageParameters, SearchParameters, ShownSearchRequest

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


def search_routes(search: AsyncSearch) -> APIRouter:
    """POST /search and GET /search, both answered by `search`."""
    routes = APIRouter(route_class=JsonRoute, tags=["search"], responses=PROBLEM_RESPONSES)

    async def answer(*, snippets: bool, **arguments: Any) -> JsonResponse:
        found = await search(**arguments)
        if snippets and found.hits:
            found = with_snippets(found, current_index().tokenizer)
        return JsonResponse(found)

    @routes.post("/search", response_model=ShownResponse)
    async def search_by_body(request: ShownSearchRequest) -> JsonResponse:
        """Rank passages for a query."""
        return await answer(**dict(request))

    @routes.get("/search", response_model=ShownResponse)
    async def search_by_address(
        parameters: Annotated[SearchParameters, Query()], request: Request
    ) -> JsonResponse:
        """Rank passages for a query; the same response as POST."""
        for name in request.query_params.keys() - {"source", "tag", "filter"}:
            if len(request.query_params.getlist(name)) > 1:
                raise InvalidRequestError("may be given only once", field=name)
        return await answer(**parameters.search_arguments())

    return routes


@dataclass(frozen=True, slots=True)
class DocumentPage(Record):
    """Some of `total` documents, from `offset` on."""

    total: int
    offset: int
    documents: Sequence[DocumentAnswer]


@dataclass(frozen=True, slots=True)
class ChunkPlace(Record):
    """A chunk of a document, without its text."""

    id: str
    section: list[str]
    position: dict[str, int]


@dataclass(frozen=True, slots=True)
class DocumentContents(DocumentAnswer):
    """A document, with the places of some of its chunks, in order."""

    contents: list[ChunkPlace]


def require_document(index: Index, *ids: str) -> DocumentRecord:
    """Return the document with the first of these ids that there is. Raises HTTPException 404."""
    for found in map(index.find_document, ids):
        if found is not None:
            return found
    raise HTTPException(404, "There is no document with this id.")


content_routes = APIRouter(tags=["content"], responses=PROBLEM_RESPONSES)


# `:path`, because ids may contain slashes.
@content_routes.get("/chunks/{chunk_id:path}", response_model=ChunkRecord)
async def chunk(chunk_id: str) -> JsonResponse:
    """Return one passage, verbatim."""
    record = current_index().find_chunk(chunk_id)
    if record is None:
        raise HTTPException(404, "There is no chunk with this id.")
    return JsonResponse(record)


@content_routes.get("/documents", response_model=DocumentPage)
async def documents(parameters: Annotated[PageParameters, Query()]) -> JsonResponse:
    """Return the documents of the index, in the order of the index."""
    index = current_index()
    page = index.documents(parameters.offset, parameters.limit)
    return JsonResponse(DocumentPage(index.document_count, parameters.offset, page))


@content_routes.get("/documents/{document_id:path}", response_model=DocumentContents)
async def document(
    document_id: str, parameters: Annotated[PageParameters, Query()]
) -> JsonResponse:
    """Return one document, with the places of its chunks from `offset` on; not their texts."""
    index = current_index()
    record = require_document(index, document_id)
    contents = [
        ChunkPlace(chunk.id, chunk.section, chunk.position)
        for chunk in index.chunks_of(record, parameters.offset, parameters.limit)
    ]
    return JsonResponse(DocumentContents(**record.to_json(), contents=contents))


@content_routes.get("/sources", response_model=SourceList)
async def sources() -> JsonResponse:
    """Return where the documents come from."""
    return JsonResponse(SourceList(current_index().sources()))


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
