"""What MCP clients can call: search, fetch and list_sources, as functions from JSON to JSON."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from ..index.errors import InvalidRequestError
from ..index.reader import Index, read_document
from ..index.records import ChunkRecord, DocumentRecord
from ..index.served import current_index
from ..retrieval.results import FindPassage, Hit, Mode, Reason, SearchResponse
from ..web.answers import AnswerModel, HitAdditions, LaneScores, PlaceAnswer
from ..web.citations import document_url
from ..web.requests import RequestModel, SearchRequest
from ..web.runner import AsyncSearch

MAX_FETCHED_LENGTH = 100_000
"""Characters of one document that a fetch returns; a model's context is no larger."""


class FetchRequest(RequestModel):
    """The arguments of fetch."""

    id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4_096,
            description="The id of a passage, or the document_id of a whole document,"
            " as search returns them.",
        ),
    ]


class ListSourcesRequest(RequestModel):
    """The arguments of list_sources: none."""


class FoundPassage(HitAdditions):
    """A passage that was found; `url` is where a reader can see it, or its path."""

    id: str
    title: str
    url: Annotated[str, Field(min_length=1)]
    text: str
    section: list[str]
    document_id: str
    source: str
    modified: str | None
    also_at: list[PlaceAnswer]
    score: Annotated[float, Field(ge=0, le=1)]
    scores: LaneScores
    boosts: dict[str, float]


class FoundPassages(AnswerModel):
    """What was found, best first; `mode` is the mode used, and `reason` why.

    `unknown_identifiers` are those of the query that stand nowhere in the documents; `stages` says
    what optional stages changed, or why they failed.
    """

    results: list[FoundPassage]
    mode: Mode
    reason: Reason
    degraded: bool
    unknown_identifiers: list[str]
    stages: dict[str, dict[str, Any]]


class FetchedText(AnswerModel):
    """A passage or a whole document, verbatim; `url` is where a reader can see it, or its path."""

    id: str
    title: str
    text: str
    url: Annotated[str, Field(min_length=1)]
    metadata: dict[str, Any]


async def find_passages(search: AsyncSearch, arguments: Mapping[str, Any]) -> SearchResponse:
    """What the search finds that the arguments ask for, which are those of POST /search.

    Raises ValidationError or InvalidRequestError for arguments that no search can answer.
    """
    request = SearchRequest.model_validate(arguments)
    filters = current_index().filters.parse(request.filters) if request.filters else None
    return await search(request.query, request.top_k, mode=request.mode, filters=filters)


def describe_passages(response: SearchResponse) -> dict[str, Any]:
    """The answer to a search: the hits of POST /search, with the same ids and scores."""
    return {
        "results": [_passage(hit) for hit in response.hits],
        "mode": response.mode,
        "reason": response.reason,
        "degraded": response.degraded,
        "unknown_identifiers": list(response.unknown_identifiers),
        "stages": dict(response.stages),
    }


def fetch_text(
    arguments: Mapping[str, Any], find_passage: FindPassage | None = None
) -> dict[str, Any]:
    """One passage or one whole document, by its id.

    Raises ValidationError, and InvalidRequestError where nothing has the id.
    """
    identifier = FetchRequest.model_validate(arguments).id
    index = current_index()
    record = index.find_chunk(identifier) or index.find_document(identifier)
    if record is None:
        raise InvalidRequestError("there is no passage or document with this id", field="id")
    text, metadata = read_record(index, record, find_passage)
    return {
        "id": record.id,
        "title": record.title,
        "text": text,
        "url": document_url(record),
        "metadata": metadata,
    }


def list_sources(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Where the documents come from, as GET /sources answers."""
    ListSourcesRequest.model_validate(arguments)
    return {"sources": [source.to_json() for source in current_index().sources()]}


def read_record(
    index: Index,
    record: ChunkRecord | DocumentRecord,
    find_passage: FindPassage | None = None,
) -> tuple[str, dict[str, Any]]:
    """The text of a passage or a document of this index, and what is known about it.

    Of a document's text at most MAX_FETCHED_LENGTH characters; `truncated` says so.
    """
    metadata: dict[str, Any] = {
        "source": record.source,
        "path": record.path,
        "tags": record.tags,
        "modified": record.modified,
        "also_at": record.also_at,
    }
    if isinstance(record, ChunkRecord):
        passage = (find_passage and find_passage(index, record)) or record
        place = {"document_id": record.document_id, "section": passage.section}
        return passage.text, {**metadata, **place}
    pieces: list[str] = []
    length = 0
    for piece in read_document(index, record):
        pieces.append(piece)
        length += len(piece)
        if length > MAX_FETCHED_LENGTH:
            break
    truncated = length > MAX_FETCHED_LENGTH
    text = "".join(pieces)[:MAX_FETCHED_LENGTH]
    # What the document says about itself must not stand in for what the index says.
    return text, {**record.metadata, **metadata, "truncated": truncated}


def _passage(hit: Hit) -> dict[str, Any]:
    chunk = hit.chunk
    return {
        "id": chunk.id,
        "title": chunk.title,
        "url": document_url(chunk),
        "text": chunk.text,
        "section": chunk.section,
        "document_id": chunk.document_id,
        "source": chunk.source,
        "modified": chunk.modified,
        "also_at": chunk.also_at,
        "score": hit.score,
        "scores": hit.scores(),
        "boosts": hit.boosts,
        **hit.additions(),
    }
