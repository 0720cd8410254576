"""What an answer consists of, in the order in which it comes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..model.replies import Usage
from ..retrieval.results import SearchResponse
from .passages import NumberedPassage

AnswerMode = Literal["model", "extractive"]
AnswerReason = Literal[
    "default", "no_model", "model_failed", "budget_spent", "nothing_found", "acknowledgement"
]
QueryOrigin = Literal["question", "conversation", "model", "none"]


@dataclass(frozen=True, slots=True)
class Sources:
    """First: the passages that the answer may cite, and the search that found them, if any.

    `query_from` says where the words that were searched for come from: the question as it stands,
    the conversation for one that follows up, or the model that rewrote such a one; `query_notice`
    why the model did not, where it should have.
    """

    search: SearchResponse | None
    passages: Sequence[NumberedPassage]
    query_from: QueryOrigin = "question"
    query_notice: str | None = None

    @property
    def unknown_identifiers(self) -> tuple[str, ...]:
        """Those of the query that stand nowhere in the index."""
        return self.search.unknown_identifiers if self.search else ()

    def to_json(self) -> dict[str, Any]:
        """The passages with their numbers, and how they were searched for."""
        search = self.search
        return {
            **self.query_json(),
            "mode": search and search.mode,
            "reason": search and search.reason,
            "degraded": search is not None and search.degraded,
            "unknown_identifiers": list(self.unknown_identifiers),
            "stages": dict(search.stages) if search else {},
            "sources": [passage.to_json() for passage in self.passages],
        }

    def query_json(self) -> dict[str, Any]:
        """What was searched for, and how it came about."""
        return {
            "query": self.search and self.search.query,
            "query_from": self.query_from,
            "query_notice": self.query_notice,
        }


@dataclass(frozen=True, slots=True)
class Delta:
    """Then: the text of the answer, piece by piece."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """The piece."""
        return {"text": self.text}


@dataclass(frozen=True, slots=True)
class Done:
    """Last: how the answer came about, and which passages it cites.

    `mode` says whose words it has; `reason` why, and `notice` says so in words where the reason
    is not the default. `truncated` is true for an answer that was cut at its limit.
    """

    mode: AnswerMode
    reason: AnswerReason
    notice: str | None
    cited: Sequence[NumberedPassage]
    truncated: bool = False
    usage: Usage | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything about the answer but its text."""
        return {
            "mode": self.mode,
            "reason": self.reason,
            "notice": self.notice,
            "cited": [passage.citation() for passage in self.cited],
            "truncated": self.truncated,
            "usage": self.usage and self.usage.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Failed:
    """Last, instead of `Done`: the answer broke off."""

    message: str

    def to_json(self) -> dict[str, Any]:
        """What happened."""
        return {"message": self.message}


ChatEvent = Sources | Delta | Done | Failed
EVENT_NAMES: dict[type, str] = {
    Sources: "sources",
    Delta: "delta",
    Done: "done",
    Failed: "error",
}
