"""What the pages show: what this server is about, and the passages of a document."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from ..index.records import ChunkRecord, DocumentAnswer, Record
from ..index.served import current_index
from ..retrieval.settings import settings
from ..retrieval.tokens import ENGLISH_STOP_WORDS
from .json import JsonResponse, once
from .problems import PROBLEM_RESPONSES
from .requests import PassageParameters

MAX_TAGS = 1_000
MAX_VALUES = 50
"""Values of a filter to choose from; where there are more, they are typed."""

MAX_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class DocumentPassages(Record):
    """A document, with some of its passages, from number `offset` on."""

    document: DocumentAnswer
    offset: int
    chunks: list[ChunkRecord]


@dataclass(frozen=True, slots=True)
class ColumnAnswer(Record):
    """A column of metadata that searches can be filtered by; `values` are its values, if few."""

    name: str
    values: list[str]


@dataclass(frozen=True, slots=True)
class About(Record):
    """What this server is about.

    `newest` is the date on which a document was modified last, null if none states one; `tags` are
    some of the tags, if there are many, and `media_types` all if they are few; `columns` are
    filters beside those that every server has; `examples` are queries that find something;
    `stop_words` are words that a search by words does not look up; `semantic` is whether there is
    a search by meaning.
    """

    title: str
    description: str
    documents: int
    chunks: int
    newest: str | None
    sources: list[str]
    tags: list[str]
    media_types: list[str]
    columns: list[ColumnAnswer]
    examples: list[str]
    stop_words: list[str]
    semantic: bool
    chat: bool


def page_data_routes(*, chat: bool = False) -> APIRouter:
    """GET /about and GET /chunks; `chat` is whether there is a chat to tell about."""
    routes = APIRouter(tags=["content"], responses=PROBLEM_RESPONSES)

    @routes.get("/about", response_model=About)
    async def about() -> JsonResponse:
        """What this server is about, and what it can do."""
        index, chosen = current_index(), settings()
        manifest, filters = index.manifest, index.filters
        stop_words = ENGLISH_STOP_WORDS if manifest.language == "english" else ()
        return JsonResponse(
            About(
                title=chosen.title,
                description=chosen.description,
                documents=index.document_count,
                chunks=index.chunk_count,
                newest=filters.newest_date(),
                sources=manifest.sources,
                tags=manifest.tags[:MAX_TAGS],
                media_types=filters.known_values("media_type", MAX_VALUES),
                columns=[
                    ColumnAnswer(name, filters.known_values(name, MAX_VALUES))
                    for name in filters.columns
                ],
                examples=[item.query for item in manifest.known_items[:MAX_EXAMPLES]],
                stop_words=sorted(stop_words),
                semantic=manifest.dense is not None,
                chat=chat,
            )
        )

    @routes.get("/chunks", response_model=DocumentPassages, dependencies=[once(PassageParameters)])
    async def passages(parameters: Annotated[PassageParameters, Query()]) -> JsonResponse:
        """Passages of one document, in the order of its text."""
        index = current_index()
        record = index.find_document(parameters.document)
        if record is None:
            raise HTTPException(404, "There is no document with this id.")
        offset = parameters.offset
        if parameters.around is not None:
            place = index.place_of(record, parameters.around)
            if place is None:
                raise HTTPException(404, "There is no chunk with this id in the document.")
            offset = max(0, place - parameters.limit // 2)
        chunks = index.chunks_of(record, offset, parameters.limit)
        return JsonResponse(DocumentPassages(record, offset, chunks))

    return routes
