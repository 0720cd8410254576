"""What OpenAI's clients send: questions, parameters, and earlier answers with their legends.

The legend of an answer says what the numbers in its text stand for, for clients that show the text
alone. They send it back, and it says what a follow-up refers to.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from ..web.requests import WHOLE, RequestModel
from .answer import Conversation
from .conversation import Turn
from .events import CitedPassage
from .routes import (
    DEFAULT_CHAT_TOP_K,
    LAST_TURN,
    MAX_TURN_CHARACTERS,
    MAX_TURNS,
    check_last_turn,
)
from .safe_text import disarm, disarm_address

MAX_WISHES_CHARACTERS = 8_000
"""Of all system messages together."""

_ENTRY = re.compile(r"\[[0-9]{1,3}\] (?P<title>.+): \S+")

Text = Annotated[str, StringConstraints(max_length=MAX_TURN_CHARACTERS)]
Count = Annotated[int, Field(strict=True, ge=1), WHOLE]
Zero = Annotated[float, Field(ge=0, le=0)]


class TextPart(RequestModel):
    """A part of a message; no other kind than text can be answered."""

    type: Literal["text"]
    text: Text


class CompletionTurn(BaseModel):
    """A message as OpenAI's clients send it; other fields of earlier answers are let be.

    `system` and `developer` are taken for wishes of the caller, never as instructions.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["user", "assistant", "system", "developer"]
    content: Text | Annotated[list[TextPart], Field(max_length=MAX_TURNS)]
    tool_calls: Literal[None] = None
    function_call: Literal[None] = None

    @property
    def text(self) -> str:
        """The text of all parts."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class StreamOptions(RequestModel):
    """How to stream."""

    include_usage: bool | None = None
    include_obfuscation: Literal[False] | None = None


class CompletionRequest(RequestModel):
    """The body of POST /v1/chat/completions.

    Parameters that would change the meaning of an answer are accepted at the value that changes
    nothing, and no other. The last group only labels a request, and has no effect here.
    """

    model: str
    messages: Annotated[
        list[CompletionTurn],
        Field(min_length=1, max_length=MAX_TURNS, description=LAST_TURN),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None

    n: Literal[1] | None = None
    frequency_penalty: Zero | None = None
    presence_penalty: Zero | None = None
    logprobs: Literal[False] | None = None
    response_format: dict[Literal["type"], Literal["text"]] | None = None
    stop: Annotated[list[str], Field(max_length=0)] | None = None
    store: Literal[False] | None = None
    tool_choice: Literal["none"] | None = None
    tools: Annotated[list[Any], Field(max_length=0)] | None = None

    metadata: dict[str, str] | None = None
    parallel_tool_calls: bool | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    seed: int | None = None
    service_tier: str | None = None
    user: str | None = None

    def conversation(self) -> Conversation:
        """Return what is asked."""
        limits = [limit for limit in (self.max_tokens, self.max_completion_tokens) if limit]
        turns = [
            read_legend(turn.text) if turn.role == "assistant" else Turn("user", turn.text)
            for turn in self.messages
            if turn.role in ("user", "assistant")
        ]
        return Conversation(
            turns,
            DEFAULT_CHAT_TOP_K,
            wishes=self._wishes(),
            max_tokens=min(limits, default=None),
            temperature=self.temperature,
            top_p=self.top_p,
        )

    def _wishes(self) -> str:
        roles = {"system", "developer"}
        return "\n".join(turn.text for turn in self.messages if turn.role in roles)

    @model_validator(mode="after")
    def _check_turns(self) -> "CompletionRequest":
        said = [turn for turn in self.messages if turn.role in ("user", "assistant")]
        check_last_turn(said[-1].role if said else None, said[-1].text if said else "")
        if len(self._wishes()) > MAX_WISHES_CHARACTERS:
            raise PydanticCustomError(
                "wishes",
                "messages: those of the system must have at most {most} characters",
                {"most": MAX_WISHES_CHARACTERS},
            )
        return self


def legend(cited: Sequence[CitedPassage]) -> str:
    """Return a line for each passage cited, below an empty one; nothing if none is."""
    lines = []
    for passage in cited:
        title = disarm(" ".join(passage.title.split()) + ":")
        lines.append(f"\n[{passage.number}] {title} {disarm_address(passage.url)}")
    return "".join(["\n", *lines]) if lines else ""


def read_legend(answer: str) -> Turn:
    """Return the answer as a turn: the text above its legend, and the titles in the legend.

    What the caller sends back is not trusted: the titles are searched for, and no more.
    """
    text, _, last = answer.rpartition("\n\n")
    entries = [_ENTRY.fullmatch(line) for line in last.split("\n")]
    titles = tuple(entry["title"] for entry in entries if entry)
    if not text or len(titles) < len(entries):
        return Turn("assistant", answer)
    return Turn("assistant", text, titles)
