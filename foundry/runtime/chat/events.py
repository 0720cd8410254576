"""What an answer consists of, in the order in which it comes: the data of its events."""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from ..model.client import Usage
from ..retrieval.results import Mode, Reason

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
