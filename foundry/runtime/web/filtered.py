"""Types for the filters of requests, whose schemas list values of the index."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from ..index.reader import Index, served
from ..retrieval.filters import MAX_FILTER_VALUES
from .filter_schemas import TIME, describe_filters, describe_pair, describe_source

schema_index: Callable[[], Index] = served.public
"""Returns the index whose values the schemas list; they are made once, for all callers."""


def _describing(
    describe: Callable[[dict[str, Any], Index], None],
) -> Callable[[dict[str, Any]], None]:
    return lambda schema: describe(schema, schema_index())


FilterValues = Annotated[dict[str, Any], Field(json_schema_extra=_describing(describe_filters))]
Source = Annotated[str, Field(json_schema_extra=_describing(describe_source))]
Pair = Annotated[str, Field(json_schema_extra=_describing(describe_pair))]
Several = Field(max_length=MAX_FILTER_VALUES)
Time = Annotated[str | None, Field(json_schema_extra=TIME)]
