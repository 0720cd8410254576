"""Documents and passages by id: their endpoints, and the addresses of citations."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.exceptions import HTTPException

from ..index.reader import Index, current_index
from ..index.records import ChunkRecord, DocumentAnswer, DocumentRecord, Record, SourceList
from ..retrieval.settings import read_address
from .json import PROBLEM_RESPONSES, JsonResponse
from .routes import RequestModel

MAX_PAGE = 100
MAX_OFFSET = 1_000_000_000

HAS_PAGES = (Path(__file__).parents[1] / "page").is_dir()
"""Whether browsers are shown documents; else citations lead to their JSON."""

_served_at = ""


def document_url(record: ChunkRecord | DocumentRecord) -> str:
    """Return the source's own url, else where this server shows the record, else its path."""
    if record.url:
        return record.url
    address = public_url()
    return address + record_path(record) if address else record.path


def record_path(record: ChunkRecord | DocumentRecord) -> str:
    """Return the path under which this server shows a record, with ids percent-encoded."""
    identifier = quote(record.id, safe="")
    if isinstance(record, DocumentRecord):
        return f"/d/{identifier}" if HAS_PAGES else f"/documents/{identifier}"
    page = f"/d/{quote(record.document_id, safe='')}#{identifier}"
    return page if HAS_PAGES else f"/chunks/{identifier}"


def public_url() -> str:
    """Return PUBLIC_URL, else where this process listens; empty if it listens nowhere.

    Raises ConfigurationError.
    """
    return read_address("PUBLIC_URL") or _served_at


def announce(address: str, port: int) -> None:
    """Remember where this process listens, an IP address and a port, and check PUBLIC_URL.

    Raises ConfigurationError.
    """
    global _served_at
    ip = ipaddress.ip_address(address.partition("%")[0])
    host = "127.0.0.1" if ip.is_unspecified else f"[{ip}]" if ip.version == 6 else str(ip)
    _served_at = f"http://{host}:{port}"
    public_url()


class PageParameters(RequestModel):
    """The query string of a list."""

    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = MAX_PAGE


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


document_routes = APIRouter(tags=["content"], responses=PROBLEM_RESPONSES)


# `:path`, because ids may contain slashes.
@document_routes.get("/chunks/{chunk_id:path}", response_model=ChunkRecord)
async def chunk(chunk_id: str) -> JsonResponse:
    """Return one passage, verbatim."""
    record = current_index().find_chunk(chunk_id)
    if record is None:
        raise HTTPException(404, "There is no chunk with this id.")
    return JsonResponse(record)


@document_routes.get("/documents", response_model=DocumentPage)
async def documents(parameters: Annotated[PageParameters, Query()]) -> JsonResponse:
    """Return the documents of the index, in the order of the index."""
    index = current_index()
    page = index.documents(parameters.offset, parameters.limit)
    return JsonResponse(DocumentPage(index.document_count, parameters.offset, page))


@document_routes.get("/documents/{document_id:path}", response_model=DocumentContents)
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


@document_routes.get("/sources", response_model=SourceList)
async def sources() -> JsonResponse:
    """Return where the documents come from."""
    return JsonResponse(SourceList(current_index().sources()))
