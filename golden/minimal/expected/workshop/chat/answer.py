"""An answer: the passages that it may cite, and the events that it consists of."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..index.records import Place, Position, Record, shorten
from ..retrieval.journal import Mode, Reason
from ..retrieval.results import Hit, Match
from ..web.citations import document_url
from ..web.requests import AsyncSearch
from .conversation import Conversation

PASSAGES_CHARACTERS = 16_000
MIN_PASSAGE_CHARACTERS = 200
EXCERPT_CHARACTERS = 400

AnswerReason = Literal[
    "default",
    "no_model",
    "model_failed",
    "model_stalled",
    "budget_spent",
    "nothing_found",
    "acknowledgement",
]
QueryOrigin = Literal["question", "conversation", "model", "none"]


@dataclass(frozen=True, slots=True)
class CitedPassage(Record):
    """A passage that an answer cites as `[number]`."""

    number: int
    id: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class SourceOfAnswer(CitedPassage):
    """A passage that an answer may cite; `text` is its beginning."""

    document_id: str
    section: list[str]
    path: str
    position: Position
    text: str
    score: float
    modified: str | None = None
    also_at: tuple[Place, ...] = ()

    def cited(self) -> CitedPassage:
        """Return the citation of the passage for `Done`."""
        return CitedPassage(self.number, self.id, self.title, self.url)


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A hit that can be cited as `source`; `text` may be cut, see `number_passages`."""

    source: SourceOfAnswer
    hit: Hit
    text: str


def number_passages(hits: Sequence[Hit]) -> list[NumberedPassage]:
    """Return the hits, best first, as passages numbered from 1.

    Together they have at most PASSAGES_CHARACTERS; the last may be cut.
    """
    passages: list[NumberedPassage] = []
    left = PASSAGES_CHARACTERS
    for number, hit in enumerate(hits, start=1):
        whole = hit.text if hit.passage is None else hit.passage.text
        if left < min(MIN_PASSAGE_CHARACTERS, len(whole)):
            break
        source = SourceOfAnswer(
            number=number,
            id=hit.id,
            title=hit.title,
            url=document_url(hit),
            document_id=hit.document_id,
            section=hit.section,
            path=hit.path,
            position=hit.position,
            text=shorten(hit.text, EXCERPT_CHARACTERS),
            score=hit.score,
            modified=hit.modified,
            also_at=tuple(hit.also_at),
        )
        passages.append(NumberedPassage(source, hit, shorten(whole, left)))
        left -= len(passages[-1].text)
    return passages


@dataclass(frozen=True, slots=True)
class Sources(Record):
    """First event: the passages that the answer may cite, and the search that found them."""

    event: ClassVar = "sources"
    query: str | None  # None if the message asks nothing.
    query_from: QueryOrigin
    query_notice: str | None  # Why the model did not write the query.
    mode: Mode | None
    reason: Reason | None
    degraded: bool
    match: Match | None
    unknown_identifiers: list[str]
    stages: dict[str, dict[str, Any]]
    sources: list[SourceOfAnswer]
    also_searched: str | None = None  # The user's own words, if the model wrote the query.


@dataclass(frozen=True, slots=True)
class Delta(Record):
    """Each following event: the next part of the answer's text."""

    event: ClassVar = "delta"
    text: str


@dataclass(frozen=True, slots=True)
class Done(Record):
    """Last event: the origin of the answer, the passages it cites, and the tokens used."""

    event: ClassVar = "done"
    mode: Literal["model", "extractive"]
    reason: AnswerReason
    notice: str | None
    cited: list[CitedPassage]
    truncated: bool
    usage: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class Failed(Record):
    """Last event instead of `Done`: why the answer broke off."""

    event: ClassVar = "error"
    message: str


ChatEvent = Sources | Delta | Done | Failed

Answer = Callable[[Conversation], AsyncGenerator[ChatEvent, None]]
"""Answers the last turn of a conversation. May raise InvalidRequestError before the first event."""


async def search_passages(
    search: AsyncSearch,
    asked: Conversation,
    query: str,
    query_from: QueryOrigin,
    query_notice: str | None = None,
) -> tuple[Sources, list[NumberedPassage]]:
    """Search; return the event that describes the results, and the passages that may be cited."""
    found = await search(query, asked.top_k, filters=asked.filters)
    passages = number_passages(found.hits)
    sources = Sources(
        query=found.query,
        query_from=query_from,
        query_notice=query_notice,
        mode=found.mode,
        reason=found.reason,
        degraded=found.degraded,
        match=found.match,
        unknown_identifiers=list(found.unknown_identifiers),
        stages=dict(found.stages),
        sources=[passage.source for passage in passages],
    )
    return sources, passages
