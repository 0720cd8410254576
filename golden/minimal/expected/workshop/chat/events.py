"""What an answer is made from and consists of: numbered passages, and its events in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from ..index.records import ChunkRecord
from ..model.client import Usage
from ..retrieval.results import Hit, Mode, Reason
from ..web.citations import document_url

PASSAGES_CHARACTERS = 16_000
"""Of all passages together: about 4,000 tokens of English."""

MIN_PASSAGE_CHARACTERS = 200
"""Less than this much of a passage says nothing."""

EXCERPT_CHARACTERS = 400

AnswerMode = Literal["model", "extractive"]
AnswerReason = Literal[
    "default", "no_model", "model_failed", "budget_spent", "nothing_found", "acknowledgement"
]
QueryOrigin = Literal["question", "conversation", "model", "none"]


class ChatData(BaseModel):
    """Data of an answer: these fields, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CitedPassage(ChatData):
    """A passage that an answer cites as `[number]`."""

    number: int
    id: str
    title: str
    url: str


class SourceOfAnswer(CitedPassage):
    """A passage that an answer may cite; `text` is how it begins."""

    document_id: str
    section: list[str]
    path: str
    position: dict[str, int]
    text: str
    score: float


class Sources(ChatData):
    """First: the passages that the answer may cite, and how POST /search finds the same.

    `query` is null for a message that asks nothing, such as a thank-you. `query_from` says whose
    words it has: the question's, the conversation's for a question that follows up, or those of
    the model that rewrote it; `query_notice` why the model did not.
    """

    event: ClassVar = "sources"
    query: str | None = None
    query_from: QueryOrigin = "none"
    query_notice: str | None = None
    mode: Mode | None = None
    reason: Reason | None = None
    degraded: bool = False
    unknown_identifiers: list[str] = []
    stages: dict[str, dict[str, Any]] = {}
    sources: list[SourceOfAnswer] = []


class Delta(ChatData):
    """Then: the text of the answer, piece by piece."""

    event: ClassVar = "delta"
    text: str


class Done(ChatData):
    """Last: whose words the answer has and why, and which passages it cites.

    `notice` says why where the reason is not the default. `truncated` is true for an answer that
    was cut at its limit.
    """

    event: ClassVar = "done"
    mode: AnswerMode
    reason: AnswerReason
    notice: str | None = None
    cited: list[CitedPassage] = []
    truncated: bool = False
    usage: Usage | None = None


class Failed(ChatData):
    """Last, instead of `Done`: why the answer broke off."""

    event: ClassVar = "error"
    message: str


ChatEvent = Sources | Delta | Done | Failed


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A hit under its number, from 1; `text` is as much of it as there is room for."""

    hit: Hit
    text: str
    source: SourceOfAnswer

    @property
    def heading(self) -> str:
        """The title and the headings above the passage, on one line."""
        return heading_of(self.hit)


def heading_of(chunk: ChunkRecord) -> str:
    """Return the title and the headings above a chunk, on one line."""
    return " > ".join(" ".join(part.split()) for part in chunk.titled_section())


def number_passages(hits: Sequence[Hit]) -> list[NumberedPassage]:
    """Number the hits from the best on, as many as the budget holds; the last may be cut."""
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
        )
        passages.append(NumberedPassage(hit, shorten(whole, left), source))
        left -= len(passages[-1].text)
    return passages


def shorten(text: str, limit: int) -> str:
    """Return the text, cut at a space and marked if it has more than `limit` characters."""
    if len(text) <= limit:
        return text
    mark = " ..."
    cut = text[: max(0, limit - len(mark))]
    return cut[: cut.rfind(" ") if " " in cut[len(cut) // 2 :] else None].rstrip() + mark
