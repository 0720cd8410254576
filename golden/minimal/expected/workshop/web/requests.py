"""Models of requests, usable without the web framework."""

from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.functional_validators import model_validator
from pydantic_core import PydanticCustomError, ValidationError

from ..retrieval.filters import KNOWN_FIELDS, read_pairs
from ..retrieval.journal import MAX_QUERY_LENGTH, MAX_RESULTS, MAX_TOP_K, Group, Mode
from ..retrieval.results import SearchResponse
from .filtered import FilterValues, Pair, Several, Source, Time

AsyncSearch = Callable[..., Awaitable[SearchResponse]]

# JSON Schema validators disagree on which characters are white space.
_NOT_BLANK = r"[^\s\u0000-\u0020\u0085\u200b\u2060\ufeff]"
QueryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_LENGTH),
    Field(json_schema_extra={"pattern": _NOT_BLANK}),
]


def _to_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_to_whole)
"""Accepts 10.0 as 10, as JSON Schema does. Comes last, so that the schema includes the limits."""

Sort = Literal["score", "date"]
MAX_OFFSET = MAX_RESULTS - 1

# Names of the same field in other systems.
_SAME = (
    "top_k limit k n size count max_results num_results",
    "offset from skip start",
    "query q text question search",
    "filters filter where",
    "id ids document_id chunk_id passage_id",
)


class RequestModel(BaseModel):
    """A request that allows only declared fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_nearest(cls, values: Any, validate: Callable[[Any], Self]) -> Self:
        try:
            return validate(values)
        except ValidationError as error:
            found: list[Any] = error.errors()
        for each in found:
            kind, (*place, name), known = each["type"], each["loc"] or ("",), cls.model_fields
            if kind == "extra_forbidden" and not place:
                names = next((same for same in map(str.split, _SAME) if name in same), ())
                near = [*filter(known.get, names), *get_close_matches(name, known, 1)]
                if "filters" in known and name in KNOWN_FIELDS:
                    each["msg"] += "; it is a filter, so move it to 'filters'"
                elif near:
                    each["msg"] += f"; did you mean {near[0]!r}?"
                elif "filter" in known and name in KNOWN_FIELDS:
                    each["msg"] += f"; it is a filter, so write it as 'filter={name}=...'"
                elif known:
                    each["msg"] += f"; known: {', '.join(known)}"
            each["type"] = PydanticCustomError(kind, each["msg"])
        raise ValidationError.from_exception_data(cls.__name__, found)


class SearchArguments(RequestModel):
    """The query and the options of a search, from any interface."""

    query: Annotated[QueryText, Field(description="A question, or words and identifiers.")]
    top_k: Annotated[
        int,
        Field(strict=True, ge=1, le=MAX_TOP_K, description="How many passages to return."),
        WHOLE,
    ] = 10
    mode: Annotated[
        Mode, Field(description="Rank by embeddings and keywords (hybrid), or by one of them only.")
    ] = "hybrid"
    filters: Annotated[
        FilterValues | None, Field(description="Filters that a passage must pass.")
    ] = None
    offset: Annotated[
        int,
        Field(strict=True, ge=0, le=MAX_OFFSET, description="Number of results to skip."),
        WHOLE,
    ] = 0


class SearchBody(SearchArguments):
    """The body of POST /search."""

    group: Annotated[
        Group | None,
        Field(
            description="With `document`, each result is the best passage of a document, with"
            " `more` of its passages; `top_k` and `offset` then count documents."
        ),
    ] = None
    prefix: Annotated[
        bool,
        Field(
            strict=True,
            description="Whether the last word may be unfinished, as while typing."
            " `match` then rates the completed query.",
        ),
    ] = False
    facets: Annotated[
        bool, Field(strict=True, description="Whether to count filter values among the results.")
    ] = False
    sort: Annotated[
        Sort, Field(description="The order of the best passages: by score, or newest first.")
    ] = "score"
    snippets: Annotated[
        bool, Field(strict=True, description="Whether to return snippets and highlights.")
    ] = True


class SearchParameters(RequestModel):
    """The query string of GET /search."""

    q: QueryText
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = 10
    mode: Mode = "hybrid"
    # Lists are repeated parameters; a `filter` is written `field=value`.
    source: Annotated[list[Source], Several] = Field(default=[])
    tag: Annotated[list[str], Several] = Field(default=[])
    modified_after: Time = None
    modified_before: Time = None
    filter: Annotated[list[Pair], Several] = Field(default=[])
    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0
    group: Group | None = None
    prefix: bool = False
    facets: bool = False
    sort: Sort = "score"
    snippets: bool = True

    def search_arguments(self) -> dict[str, Any]:
        """Return the same search as the fields of a SearchBody. Raises InvalidRequestError."""
        fields = dict(self)
        named = {"source": fields.pop("source"), "tags": fields.pop("tag")}
        for name in ("modified_after", "modified_before"):
            named[name] = filter(None, [fields.pop(name)])
        pairs = [f"{name}={value}" for name, values in named.items() for value in values]
        fields["filters"] = read_pairs([*pairs, *fields.pop("filter")])
        return {"query": fields.pop("q"), **fields}
