"""JSON Schemas of filters, which list values of the index; for whoever does without pydantic."""

import re
from typing import Any

from ..index.reader import Index
from ..retrieval.filters import MAX_FILTER_VALUES, FilterColumns

TIME: dict[str, Any] = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
    "description": "ISO 8601 date or date-time; UTC unless it says.",
}


def describe_source(schema: dict[str, Any], index: Index) -> None:
    """Add the sources to the schema of one, unless there are too many."""
    if known := index.part(FilterColumns.open).known_values("source", MAX_FILTER_VALUES):
        schema["enum"] = known


def describe_pair(schema: dict[str, Any], index: Index) -> None:
    """Add the names of filters to the schema of `field=value`."""
    # A dot replaces every character with a meaning in patterns.
    names = [re.sub(r"\W", ".", name) for name in index.part(FilterColumns.open).columns]
    schema["pattern"] = f"^({'|'.join(['path', 'media_type', *names])})="


def describe_filters(schema: dict[str, Any], index: Index) -> None:
    """Add every filter to the schema of an object of filters, in place of those it has."""
    meanings = {
        "source": "One of these sources.",
        "tags": "All of these tags.",
        "path": "A path that begins with one of these.",
        "media_type": "One of these, such as text/markdown.",
        **dict.fromkeys(index.part(FilterColumns.open).columns, "One of these."),
    }
    properties = {"modified_after": TIME, "modified_before": TIME}
    for name, meaning in meanings.items():
        one = {"type": "string"}
        if name == "source":
            describe_source(one, index)
        several = {"type": "array", "items": one, "maxItems": MAX_FILTER_VALUES}
        properties[name] = {"anyOf": [one, several], "description": meaning}
    schema.update(additionalProperties=False, properties=properties)
