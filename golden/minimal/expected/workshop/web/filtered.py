"""Types for the filters of requests; their schemas list values of the index."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from ..index.reader import Index, served
from ..retrieval.filter_schemas import (
    MAX_FILTER_VALUES,
    TIME,
    Filterable,
    describe_filters,
    describe_pair,
    describe_source,
)
from ..retrieval.filters import FilterColumns

schema_index: Callable[[], Index] = served.public
"""Returns the index whose values the schemas list; they are built once, for all callers."""


def filterable() -> Filterable:
    """Return the filters of the index whose values the schemas list."""
    columns = schema_index().part(FilterColumns.open)
    return Filterable(columns.columns, columns.known_values("source", MAX_FILTER_VALUES))


def _describing(
    describe: Callable[[dict[str, Any], Filterable], None],
) -> Callable[[dict[str, Any]], None]:
    return lambda schema: describe(schema, filterable())


FilterValues = Annotated[dict[str, Any], Field(json_schema_extra=_describing(describe_filters))]
Source = Annotated[str, Field(json_schema_extra=_describing(describe_source))]
Pair = Annotated[str, Field(json_schema_extra=_describing(describe_pair))]
Several = Field(max_length=MAX_FILTER_VALUES)
Time = Annotated[str | None, Field(json_schema_extra=TIME)]
