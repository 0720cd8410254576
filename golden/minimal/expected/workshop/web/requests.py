"""Models of what callers send."""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from ..index.served import current_index
from ..retrieval.filters import MAX_FILTER_VALUES, read_pairs
from ..retrieval.results import MAX_QUERY_LENGTH, MAX_TOP_K, Mode

UNKNOWN_FIELD = "unknown_field"
"""The type of a validation error whose context names a field that does not exist."""

MAX_PAGE = 100
MAX_OFFSET = 1_000_000_000

# Whatever one language or another takes for white space; see `QueryText`.
_NOT_BLANK = r"[^\s\u0000-\u0020\u0085\u200b\u2060\ufeff]"

QueryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_LENGTH),
    # For the schema alone, which must not allow what is refused.
    Field(json_schema_extra={"pattern": _NOT_BLANK}),
]


def _to_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_to_whole)
"""Takes 10.0 for 10, as JSON Schema does. Comes last, so that the schema has the limits."""


def _refuse_other_digits(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]+(?:\.0+)?", value):
        raise PydanticCustomError("int_parsing", "should be a whole number")
    return value


DIGITS = BeforeValidator(_refuse_other_digits)
"""A whole number in an address, without what Python allows besides, such as 1_0. Comes last."""

_LIST = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_FILTER_VALUES}
_NAMES = {"anyOf": [{"type": "string"}, _LIST]}
_TIME = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
    "description": "ISO 8601 date or date-time; UTC unless it says.",
}
_FILTERS = {
    "tags": {**_NAMES, "description": "All of these tags."},
    "path": {**_NAMES, "description": "A path that begins with one of these."},
    "media_type": {**_NAMES, "description": "One of these, such as text/markdown."},
    "modified_after": _TIME,
    "modified_before": _TIME,
}


class _SchemaOf:
    """Describes a value by a schema that depends on the index, once it is asked for."""

    def __init__(self, describe: Callable[[], JsonSchemaValue]) -> None:
        self._describe = describe

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return self._describe()


def filter_columns() -> tuple[str, ...]:
    """Return the columns of metadata that searches can be filtered by."""
    return current_index().filters.columns


def _describe_filters() -> JsonSchemaValue:
    columns = {name: {**_NAMES, "description": "One of these."} for name in filter_columns()}
    source = {
        "anyOf": [_describe_source(), _describe_sources()],
        "description": "One of these sources.",
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {"source": source, **_FILTERS, **columns},
    }


def _describe_source() -> JsonSchemaValue:
    # Those that there are, unless they are many.
    known = current_index().filters.known_values("source", MAX_FILTER_VALUES)
    return {"type": "string", "enum": known} if known else {"type": "string"}


def _describe_sources() -> JsonSchemaValue:
    return {**_LIST, "items": _describe_source()}


def _describe_pairs() -> JsonSchemaValue:
    names = [
        re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", name)
        for name in ("path", "media_type", *filter_columns())
    ]
    return {**_LIST, "items": {"type": "string", "pattern": f"^(?:{'|'.join(names)})="}}


FilterValues = Annotated[dict[str, Any], _SchemaOf(_describe_filters)]


class RequestModel(BaseModel):
    """A request that may have the declared fields and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def refuse_unknown_fields(cls, values: object) -> object:
        """Name the field that is unknown, and those that are known."""
        if isinstance(values, dict):
            for name in values:
                if name not in cls.model_fields:
                    # A name may hold lone surrogates, which no error message may.
                    field = str(name).encode(errors="backslashreplace").decode()
                    context = {"field": field, "known": ", ".join(cls.model_fields)}
                    raise PydanticCustomError(
                        UNKNOWN_FIELD, "unknown field; known: {known}", context
                    )
        return values


class SearchRequest(RequestModel):
    """The body of POST /search."""

    query: Annotated[QueryText, Field(description="A question, or words and identifiers.")]
    top_k: Annotated[
        int,
        Field(strict=True, ge=1, le=MAX_TOP_K, description="How many passages to return."),
        WHOLE,
    ] = 10
    mode: Annotated[
        Mode, Field(description="Rank by meaning and words (hybrid), or by one of them alone.")
    ] = "hybrid"
    filters: Annotated[FilterValues | None, Field(description="What every passage must have.")] = (
        None
    )


class SearchParameters(RequestModel):
    """The query string of GET /search; `source`, `tag` and `filter` may be repeated.

    A `filter` is `field=value`, for the fields that have no parameter of their own.
    """

    q: QueryText
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K), DIGITS] = 10
    mode: Mode = "hybrid"
    source: Annotated[list[str], _SchemaOf(_describe_sources)] = []
    tag: Annotated[list[str], WithJsonSchema(_LIST)] = []
    modified_after: Annotated[str | None, WithJsonSchema(_TIME)] = None
    modified_before: Annotated[str | None, WithJsonSchema(_TIME)] = None
    filter: Annotated[list[str], _SchemaOf(_describe_pairs)] = []

    def filters(self) -> dict[str, Any]:
        """Return the filters as the body of POST /search has them. Raises InvalidRequestError."""
        values = {
            "source": self.source,
            "tags": self.tag,
            "modified_after": self.modified_after,
            "modified_before": self.modified_before,
            **read_pairs(self.filter),
        }
        return {name: value for name, value in values.items() if value not in (None, [])}


class PageParameters(RequestModel):
    """The query string of a list."""

    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET), DIGITS] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE), DIGITS] = MAX_PAGE


class PassageParameters(PageParameters):
    """The query string of GET /chunks; `around` puts the page around a chunk, by its id."""

    document: str
    around: str | None = None
