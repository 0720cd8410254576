"""What HTTP callers send and get: requests are validated by these models, answers described."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from .results import MAX_QUERY_LENGTH, MAX_TOP_K, Mode, Reason
from .web_problems import UNKNOWN_FIELD

MAX_PAGE = 1000
MAX_OFFSET = 1_000_000_000

QueryText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_LENGTH)
]

_NAMES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_TIME = {"type": "string", "description": "ISO 8601 date or date-time; UTC unless it says."}

FilterValues = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "source": {**_NAMES, "description": "One of these sources."},
                "tags": {**_NAMES, "description": "All of these tags."},
                "modified_after": _TIME,
                "modified_before": _TIME,
            },
        }
    ),
]


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

    query: QueryText
    top_k: Annotated[int, Field(strict=True, ge=1, le=MAX_TOP_K)] = 10
    mode: Mode = "hybrid"
    filters: FilterValues | None = None


class SearchParameters(RequestModel):
    """The query string of GET /search; `source` and `tag` may be repeated."""

    q: QueryText
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = 10
    mode: Mode = "hybrid"
    source: list[str] = []
    tag: list[str] = []
    modified_after: str | None = None
    modified_before: str | None = None

    def filters(self) -> dict[str, Any]:
        """The same filters as in the body of POST /search."""
        return {
            "source": self.source,
            "tags": self.tag,
            "modified_after": self.modified_after,
            "modified_before": self.modified_before,
        }


class PageParameters(RequestModel):
    """The query string of a list."""

    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET)] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 100


class AnswerModel(BaseModel):
    """An answer; it serves the OpenAPI document, answers are not validated again."""

    model_config = ConfigDict(extra="forbid")


class LaneScores(AnswerModel):
    """A value for each lane; null where a lane has none."""

    semantic: float | None
    keyword: float | None


class LaneRanks(AnswerModel):
    """The rank in each lane, from 1; null where the lane did not deliver the chunk."""

    semantic: int | None
    keyword: int | None


class ChunkAnswer(AnswerModel):
    """A passage, verbatim, with its place in its document."""

    id: str
    document_id: str
    title: str
    text: str
    section: list[str]
    position: dict[str, int]
    source: str
    path: str
    url: str | None
    tags: list[str]
    modified: str | None


class HitAnswer(ChunkAnswer):
    """A passage that was found, and how its score came about."""

    score: Annotated[float, Field(ge=0, le=1)]
    scores: LaneScores
    ranks: LaneRanks
    boosts: dict[str, float]


class SearchAnswer(AnswerModel):
    """What was found, best first; `mode` is the mode used, and `reason` why."""

    query: str
    mode: Mode
    reason: Reason
    degraded: bool
    took_ms: float
    results: list[HitAnswer]


class DocumentAnswer(AnswerModel):
    """A document, with the number of its chunks."""

    id: str
    title: str
    source: str
    path: str
    url: str | None
    media_type: str
    sha256: str
    bytes: int
    modified: str | None
    tags: list[str]
    metadata: dict[str, str]
    reader: str
    chunks: int


class DocumentPage(AnswerModel):
    """Some of `total` documents, from `offset` on."""

    total: int
    offset: int
    documents: list[DocumentAnswer]


class ChunkPlace(AnswerModel):
    """A chunk of a document, without its text."""

    id: str
    section: list[str]
    position: dict[str, int]


class DocumentContents(DocumentAnswer):
    """A document, with the places of its chunks in order."""

    contents: list[ChunkPlace]


class SourceAnswer(AnswerModel):
    """A source, with what it gave to the index."""

    name: str
    documents: int
    chunks: int


class SourceList(AnswerModel):
    """Every source of the index."""

    sources: list[SourceAnswer]


class Health(AnswerModel):
    """The process answers."""

    status: Literal["ok"]


class Readiness(Health):
    """The index is open."""

    index_version: str
    chunks: int
    documents: int
