"""What HTTP callers get, for the OpenAPI document; answers are not checked again when served."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, create_model

from ..index.reader import Index
from ..retrieval.results import Mode, Reason


class AnswerModel(BaseModel):
    """An answer that has the declared fields and no others."""

    model_config = ConfigDict(extra="forbid")


class LaneScores(AnswerModel):
    """A value for each lane, null where a lane has none, and that of the reranking model.

    `rerank` is there only where the model was asked.
    """

    semantic: float | None
    keyword: float | None
    rerank: float | None = None


class LaneRanks(AnswerModel):
    """The rank in each lane, from 1; null where the lane did not deliver the chunk."""

    semantic: int | None
    keyword: int | None


class PlaceAnswer(AnswerModel):
    """Where a copy of a document was found."""

    document_id: str
    source: str
    path: str
    url: str | None
    title: str


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
    also_at: list[PlaceAnswer]


class SurroundingPassage(AnswerModel):
    """The larger passage around a small chunk, verbatim, with its own place in the document."""

    text: str
    section: list[str]
    position: dict[str, int]


class HitAdditions(AnswerModel):
    """What some servers put beside a passage: `near_duplicates` are ids that it stands for."""

    near_duplicates: list[str] = []
    passage: SurroundingPassage | None = None


class HitAnswer(ChunkAnswer, HitAdditions):
    """A passage that was found, and how its score came about."""

    score: Annotated[float, Field(ge=0, le=1)]
    scores: LaneScores
    ranks: LaneRanks
    boosts: dict[str, float]


class SearchAnswer(AnswerModel):
    """What was found, best first; `mode` is the mode used, and `reason` why.

    `unknown_identifiers` are those of the query that stand nowhere in the documents; `stages` says
    what optional stages changed, or why they failed.
    """

    query: str
    mode: Mode
    reason: Reason
    degraded: bool
    unknown_identifiers: list[str]
    took_ms: float
    stages: dict[str, dict[str, Any]]
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
    also_at: list[PlaceAnswer]
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
    """A document, with the places of its chunks in order, those of the page asked for."""

    contents: list[ChunkPlace]


class DocumentPassages(AnswerModel):
    """A document, with some of its passages, from number `offset` on."""

    document: DocumentAnswer
    offset: int
    chunks: list[ChunkAnswer]


class ColumnAnswer(AnswerModel):
    """A column of metadata that searches can be filtered by; `values` are its values, if few."""

    name: str
    values: list[str]


class About(AnswerModel):
    """What this server is about.

    `newest` is the date on which a document was modified last, null if none states one; `tags` are
    some of the tags, if there are many, and `media_types` all if they are few; `columns` are
    filters beside those that every server has; `examples` are queries that find something;
    `stop_words` are words that a search by words does not look up; `semantic` is whether there is
    a search by meaning.
    """

    title: str
    description: str
    documents: int
    chunks: int
    newest: str | None
    sources: list[str]
    tags: list[str]
    media_types: list[str]
    columns: list[ColumnAnswer]
    examples: list[str]
    stop_words: list[str]
    semantic: bool
    chat: bool


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


class Readiness(AnswerModel):
    """The index is open, and searches are answered.

    `verified`: every file of the index has been compared with its hash. `problem` says what is not
    as it should be if `status` is `degraded`.
    """

    status: Literal["ok", "degraded"]
    problem: str | None
    verified: bool
    index_version: str
    chunks: int
    documents: int


class ReadinessPart(NamedTuple):
    """Something that a server needs beside its index: its key and form in the answer of /readyz.

    `describe` returns its state in the index that is served. What it says as `detail` makes the
    server degraded, and what it raises makes it unready.
    """

    name: str
    model: type[AnswerModel]
    describe: Callable[[Index], dict[str, Any]]


def readiness_of(*parts: ReadinessPart) -> type[Readiness]:
    """Return the model of /readyz of a server that has these parts."""
    fields: dict[str, Any] = {part.name: (part.model, ...) for part in parts}
    return create_model("Readiness", __base__=Readiness, __doc__=Readiness.__doc__, **fields)
