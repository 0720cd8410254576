"""POST /thumbs: logs readers' thumbs for search results, for the server's owner."""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import StringConstraints

from ..errors import InvalidRequestError
from ..index.reader import current_index
from ..index.records import Record
from .questions import QuestionLog
from .requests import QueryText, RequestModel
from .routes import JsonResponse, JsonRoute

MAX_ID_CHARACTERS = 4_096


class ThumbRequest(RequestModel):
    """The body of POST /thumbs: a query, the id of a passage, and a thumb."""

    query: QueryText
    id: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_CHARACTERS)]
    thumb: Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Thumbs(Record):
    """Whether the server logs thumbs, or whether a thumb was logged."""

    kept: bool


def thumb_routes(questions: QuestionLog) -> APIRouter:
    """Return POST /thumbs, which writes to the question log, and GET /thumbs."""
    routes = APIRouter(route_class=JsonRoute, tags=["search"])

    @routes.get("/thumbs", response_model=Thumbs)
    async def are_thumbs_kept() -> JsonResponse:
        """Return whether the server logs thumbs."""
        return JsonResponse(Thumbs(questions.file is not None))

    @routes.post("/thumbs", response_model=Thumbs)
    def keep_thumb(request: ThumbRequest) -> JsonResponse:
        """Log a reader's rating of a search result; return whether it was logged."""
        chunk = current_index().find_chunk(request.id)
        if chunk is None:
            raise InvalidRequestError("there is no passage with this id", field="id")
        is_kept = questions.add_thumb(request.query, chunk.document_id, request.thumb)
        return JsonResponse(Thumbs(is_kept))

    return routes
