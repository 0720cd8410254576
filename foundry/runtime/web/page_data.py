"""What the pages show: what this server is about, and the passages of a document."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from ..index.served import current_index
from ..retrieval.settings import settings
from ..retrieval.tokens import ENGLISH_STOP_WORDS
from .answers import About, DocumentPassages
from .json import JsonResponse, once
from .problems import PROBLEM_RESPONSES
from .requests import PassageParameters

MAX_TAGS = 1_000
MAX_VALUES = 50
"""Values of a filter to choose from; where there are more, they are typed."""

MAX_EXAMPLES = 4


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
            {
                "title": chosen.title,
                "description": chosen.description,
                "documents": index.document_count,
                "chunks": index.chunk_count,
                "newest": filters.newest_date(),
                "sources": manifest.sources,
                "tags": manifest.tags[:MAX_TAGS],
                "media_types": filters.known_values("media_type", MAX_VALUES),
                "columns": [
                    {"name": name, "values": filters.known_values(name, MAX_VALUES)}
                    for name in filters.columns
                ],
                "examples": [item.query for item in manifest.known_items[:MAX_EXAMPLES]],
                "stop_words": sorted(stop_words),
                "semantic": manifest.dense is not None,
                "chat": chat,
            }
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
        return JsonResponse(
            {
                "document": record.to_json(),
                "offset": offset,
                "chunks": [chunk.to_json() for chunk in chunks],
            }
        )

    return routes
