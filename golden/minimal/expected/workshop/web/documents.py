"""The endpoints that show documents and passages by id."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.exceptions import HTTPException

from ..index.documents import DocumentAnswer, DocumentRecord, Documents, SourceList
from ..index.reader import current_index
from ..index.records import ChunkRecord, Position, Record
from .requests import RequestModel
from .routes import JsonResponse

MAX_PAGE = 100
MAX_OFFSET = 1_000_000_000


class PageParameters(RequestModel):
    """The query string of an endpoint that returns a part of a list."""

    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = MAX_PAGE


@dataclass(frozen=True, slots=True)
class DocumentPage(Record):
    """A page of `total` documents, from `offset` on."""

    total: int
    offset: int
    documents: Sequence[DocumentAnswer]


@dataclass(frozen=True, slots=True)
class ChunkPlace(Record):
    """A chunk of a document, without its text."""

    id: str
    section: list[str]
    position: Position


@dataclass(frozen=True, slots=True)
class DocumentContents(DocumentAnswer):
    """A document, with the places of some of its chunks, in order."""

    contents: list[ChunkPlace]


def require_document(documents: Documents, *ids: str) -> DocumentRecord:
    """Return the document with the first of these ids that exists. Raises HTTPException 404."""
    for found in map(documents.find, ids):
        if found is not None:
            return found
    raise HTTPException(404, "There is no document with this id.")


document_routes = APIRouter(tags=["content"])


# `:path`, because ids may contain slashes.
@document_routes.get("/chunks/{chunk_id:path}", response_model=ChunkRecord)
def chunk(chunk_id: str) -> JsonResponse:
    """Return one passage, verbatim."""
    record = current_index().find_chunk(chunk_id)
    if record is None:
        raise HTTPException(404, "There is no chunk with this id.")
    return JsonResponse(record)


@document_routes.get("/documents", response_model=DocumentPage)
def documents(parameters: Annotated[PageParameters, Query()]) -> JsonResponse:
    """Return the documents of the index, in index order."""
    index = current_index()
    page = index.part(Documents.open).page(parameters.offset, parameters.limit)
    return JsonResponse(DocumentPage(index.document_count, parameters.offset, [*page]))


@document_routes.get("/documents/{document_id:path}", response_model=DocumentContents)
def document(document_id: str, parameters: Annotated[PageParameters, Query()]) -> JsonResponse:
    """Return one document, with the places of its chunks from `offset` on, but not their texts."""
    documents = current_index().part(Documents.open)
    record = require_document(documents, document_id)
    chunks = documents.chunks_of(record, parameters.offset, parameters.limit)
    contents = [ChunkPlace(one.id, one.section, one.position) for one in chunks]
    return JsonResponse(DocumentContents(**record.to_json(), contents=contents))


@document_routes.get("/sources", response_model=SourceList)
def sources() -> JsonResponse:
    """Return the sources that the documents come from."""
    return JsonResponse(SourceList(current_index().part(Documents.open).sources()))
