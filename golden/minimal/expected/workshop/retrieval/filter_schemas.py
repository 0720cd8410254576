"""JSON Schemas of filters, with the values in an index; built without opening it."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

MAX_FILTER_VALUES = 256  # Maximum number of values of one filter in a request.

TIME: dict[str, Any] = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
    "description": "ISO 8601 date or date-time; in UTC unless it has an offset.",
}


class Filterable(NamedTuple):
    """The filters of an index: metadata columns and sources, sorted."""

    columns: Iterable[str]
    sources: Sequence[str]


def describe_source(schema: dict[str, Any], known: Filterable) -> None:
    """Add the names of sources to a schema, unless there are none or too many."""
    if 0 < len(known.sources) <= MAX_FILTER_VALUES:
        schema["enum"] = known.sources


def describe_pair(schema: dict[str, Any], known: Filterable) -> None:
    """Add the names of filters to the schema of `field=value`."""
    # A dot replaces every character with a meaning in patterns.
    names = [re.sub(r"\W", ".", name) for name in known.columns]
    schema["pattern"] = f"^({'|'.join(['path', 'media_type', *names])})="


def describe_filters(schema: dict[str, Any], known: Filterable) -> None:
    """Replace the properties of a filter object's schema by all filters of the index."""
    meanings = {
        "source": "One of these sources.",
        "tags": "All of these tags.",
        "path": "A path that begins with one of these.",
        "media_type": "One of these, such as text/markdown.",
        **dict.fromkeys(known.columns, "One of these."),
    }
    properties = {"modified_after": TIME, "modified_before": TIME}
    for name, meaning in meanings.items():
        one = {"type": "string"}
        if name == "source":
            describe_source(one, known)
        several = {"type": "array", "items": one, "maxItems": MAX_FILTER_VALUES}
        properties[name] = {"anyOf": [one, several], "description": meaning}
    schema.update(additionalProperties=False, properties=properties)
