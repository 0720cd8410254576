"""Types for the filters of requests, whose schemas list values of the index."""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from ..index.reader import Index, served
from ..retrieval.filters import MAX_FILTER_VALUES, FilterColumns

_TIME: dict[str, Any] = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
    "description": "ISO 8601 date or date-time; UTC unless it says.",
}

schema_index: Callable[[], Index] = served.public
"""Returns the index whose values the schemas list; they are made once, for all callers."""


def _describe_source(schema: dict[str, Any]) -> None:
    if known := schema_index().part(FilterColumns.open).known_values("source", MAX_FILTER_VALUES):
        schema["enum"] = known


def _describe_pair(schema: dict[str, Any]) -> None:
    # A dot replaces every character with a meaning in patterns.
    names = [re.sub(r"\W", ".", name) for name in schema_index().part(FilterColumns.open).columns]
    schema["pattern"] = f"^({'|'.join(['path', 'media_type', *names])})="


def _describe_filters(schema: dict[str, Any]) -> None:
    meanings = {
        "source": "One of these sources.",
        "tags": "All of these tags.",
        "path": "A path that begins with one of these.",
        "media_type": "One of these, such as text/markdown.",
        **dict.fromkeys(schema_index().part(FilterColumns.open).columns, "One of these."),
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
Source = Annotated[str, Field(json_schema_extra=_describe_source)]
Pair = Annotated[str, Field(json_schema_extra=_describe_pair)]
Several = Field(max_length=MAX_FILTER_VALUES)
Time = Annotated[str | None, Field(json_schema_extra=_TIME)]
