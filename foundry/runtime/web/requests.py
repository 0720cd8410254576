"""The models of requests, apart from the web framework: MCP over stdio starts without it."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from ..index.reader import Index, current_index
from ..retrieval.filters import MAX_FILTER_VALUES, read_pairs
from ..retrieval.results import MAX_QUERY_LENGTH, MAX_TOP_K, Mode, SearchResponse

AsyncSearch = Callable[..., Awaitable[SearchResponse]]

# Readers of the schema differ in what they take for white space.
_NOT_BLANK = r"[^\s\u0000-\u0020\u0085\u200b\u2060\ufeff]"
QueryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_LENGTH),
    Field(json_schema_extra={"pattern": _NOT_BLANK}),
]


def _to_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_to_whole)
"""Takes 10.0 for 10, as JSON Schema does. Comes last, so that the schema has the limits."""

_TIME: dict[str, Any] = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
    "description": "ISO 8601 date or date-time; UTC unless it says.",
}


schema_index: Callable[[], Index] = current_index
"""Returns the index whose values the schemas name; they are made when a client first asks."""


def _describe_source(schema: dict[str, Any]) -> None:
    if known := schema_index().filters.known_values("source", MAX_FILTER_VALUES):
        schema["enum"] = known


def _describe_pair(schema: dict[str, Any]) -> None:
    # A dot stands for every character that may have a meaning in a pattern.
    names = [re.sub(r"\W", ".", name) for name in schema_index().filters.columns]
    schema["pattern"] = f"^({'|'.join(['path', 'media_type', *names])})="


def _describe_filters(schema: dict[str, Any]) -> None:
    meanings = {
        "source": "One of these sources.",
        "tags": "All of these tags.",
        "path": "A path that begins with one of these.",
        "media_type": "One of these, such as text/markdown.",
        **dict.fromkeys(schema_index().filters.columns, "One of these."),
    }
    properties = {"modified_after": _TIME, "modified_before": _TIME}
    for name, meaning in meanings.items():
        one = {"type": "string"}
        if name == "source":
            _describe_source(one)
        several = {"type": "array", "items": one, "maxItems": MAX_FILTER_VALUES}
        properties[name] = {"anyOf": [one, several], "description": meaning}
    schema.update(additionalProperties=False, properties=properties)


FilterValues = Annotated[dict[str, Any], Field(json_schema_extra=_describe_filters)]
_Source = Annotated[str, Field(json_schema_extra=_describe_source)]
_Pair = Annotated[str, Field(json_schema_extra=_describe_pair)]
_Several = Field(max_length=MAX_FILTER_VALUES)
_Time = Annotated[str | None, Field(json_schema_extra=_TIME)]


class RequestModel(BaseModel):
    """A request that may have the declared fields and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SearchArguments(RequestModel):
    """What to search for."""

    query: Annotated[QueryText, Field(description="A question, or words and identifiers.")]
    top_k: Annotated[
        int,
        Field(strict=True, ge=1, le=MAX_TOP_K, description="How many passages to return."),
        WHOLE,
    ] = 10
    mode: Annotated[
        Mode, Field(description="Rank by meaning and words (hybrid), or by one of them alone.")
    ] = "hybrid"
    filters: Annotated[FilterValues | None, Field(description="What each passage must have.")] = (
        None
    )


class ShownSearchRequest(SearchArguments):
    """The body of POST /search."""

    snippets: Annotated[
        bool, Field(strict=True, description="Whether each passage has its snippet and highlights.")
    ] = True


class SearchParameters(RequestModel):
    """The query string of GET /search; lists are repeated, and a `filter` is `field=value`."""

    q: QueryText
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = 10
    mode: Mode = "hybrid"
    source: Annotated[list[_Source], _Several] = []
    tag: Annotated[list[str], _Several] = []
    modified_after: _Time = None
    modified_before: _Time = None
    filter: Annotated[list[_Pair], _Several] = []


class ShownSearchParameters(SearchParameters):
    """The same where results may have snippets."""

    snippets: bool = True


def search_arguments(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what POST has for the fields of a query string. Raises InvalidRequestError."""
    filters = {name: fields.pop(name) for name in ("source", "modified_after", "modified_before")}
    filters |= {"tags": fields.pop("tag"), **read_pairs(fields.pop("filter"))}
    given = {name: value for name, value in filters.items() if value}
    return {"query": fields.pop("q"), "filters": given, **fields}
