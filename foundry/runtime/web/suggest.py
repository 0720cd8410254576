"""GET /suggest: completes a query while it is typed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from ..index.reader import current_index
from ..index.records import Record
from ..retrieval.stages.suggestions import Suggestion, suggest
from .requests import RequestModel
from .routes import JsonResponse

MAX_CHARACTERS = 200  # No heading completes a longer query.


class SuggestParameters(RequestModel):
    """The query string of GET /suggest."""

    q: Annotated[str, Query(max_length=MAX_CHARACTERS)] = ""


@dataclass(frozen=True, slots=True)
class Suggestions(Record):
    """The typed text, and possible completions, best first."""

    query: str
    suggestions: Sequence[Suggestion]


suggest_routes = APIRouter(tags=["search"])


@suggest_routes.get("/suggest", response_model=Suggestions)
async def suggest_queries(parameters: Annotated[SuggestParameters, Query()]) -> JsonResponse:
    """Complete the last word of a query, and offer headings."""
    return JsonResponse(Suggestions(parameters.q, suggest(current_index(), parameters.q)))
