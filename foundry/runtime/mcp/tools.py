"""The tools that MCP clients call, as functions from JSON to JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from pydantic import Field

from ..index.errors import InvalidRequestError
from ..index.reader import Index, read_document
from ..index.records import ChunkRecord, DocumentRecord, Place, Record
from ..index.served import current_index
from ..retrieval.results import (
    FindPassage,
    Hit,
    LaneScores,
    Mode,
    Passage,
    Reason,
)
from ..web.answers import SourceList
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


@dataclass(frozen=True, slots=True)
class FoundPassage(Record):
    """A passage that was found; `url` is where a reader can see it, or its path.

    `near_duplicates` are ids of passages that it stands for, `passage` is the larger one around it.
    """

    id: str
    title: str
    url: str = field(metadata={"min_length": 1})
    text: str
    section: list[str]
    document_id: str
    source: str
    modified: str | None
    also_at: list[Place]
    score: float = field(metadata={"ge": 0, "le": 1})
    scores: LaneScores
    boosts: dict[str, float]
    near_duplicates: tuple[str, ...] = ()
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class FoundPassages(Record):
    """What was found, best first; `mode` is the mode used, and `reason` why.

    `unknown_identifiers` are those of the query that stand nowhere in the documents; `stages` says
    what optional stages changed, or why they failed.
    """

    results: list[FoundPassage]
    mode: Mode
    reason: Reason
    degraded: bool
    unknown_identifiers: tuple[str, ...]
    stages: Mapping[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class FetchedText(Record):
    """A passage or a whole document, verbatim; `url` is where a reader can see it, or its path."""

    id: str
    title: str
    text: str
    url: str = field(metadata={"min_length": 1})
    metadata: dict[str, Any]


async def find_passages(search: AsyncSearch, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hits of POST /search for the same arguments, with the same ids and scores.

    Raises ValidationError or InvalidRequestError for arguments that no search can answer.
    """
    request = SearchRequest.model_validate(arguments)
    response = await search(
        request.query, request.top_k, mode=request.mode, filters=request.filters
    )
    return FoundPassages(
        [_passage(hit) for hit in response.hits],
        response.mode,
        response.reason,
        response.degraded,
        response.unknown_identifiers,
        response.stages,
    ).to_json()


async def fetch_text(
    find_passage: FindPassage | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one passage or one whole document, by its id.

    Raises ValidationError, and InvalidRequestError where nothing has the id.
    """
    identifier = FetchRequest.model_validate(arguments).id
    index = current_index()
    record = index.find_chunk(identifier) or index.find_document(identifier)
    if record is None:
        raise InvalidRequestError("there is no passage or document with this id", field="id")
    text, metadata = read_record(index, record, find_passage)
    return FetchedText(record.id, record.title, text, document_url(record), metadata).to_json()


async def list_sources(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the documents come from, as GET /sources answers."""
    ListSourcesRequest.model_validate(arguments)
    return SourceList(current_index().sources()).to_json()


def read_record(
    index: Index,
    record: ChunkRecord | DocumentRecord,
    find_passage: FindPassage | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the text of a passage or a document of this index, and what is known about it.

    Of a document's text at most MAX_FETCHED_LENGTH characters; `truncated` says so.
    """
    metadata: dict[str, Any] = {
        "source": record.source,
        "path": record.path,
        "tags": record.tags,
        "modified": record.modified,
        "also_at": [place.to_json() for place in record.also_at],
    }
    if isinstance(record, ChunkRecord):
        passage = (find_passage and find_passage(index, record)) or record
        place = {"document_id": record.document_id, "section": passage.section}
        return passage.text, {**metadata, **place}
    text, truncated = "", False
    for piece in read_document(index, record):
        text += piece
        if truncated := len(text) > MAX_FETCHED_LENGTH:
            break
    # What the document says about itself must not stand in for what the index says.
    metadata = {**record.metadata, **metadata, "truncated": truncated}
    return text[:MAX_FETCHED_LENGTH], metadata


def _passage(hit: Hit) -> FoundPassage:
    values = {one.name: getattr(hit, one.name) for one in fields(FoundPassage)}
    return FoundPassage(**{**values, "url": document_url(hit)})
