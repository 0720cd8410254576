"""What OpenAI's clients send and get, where it differs from POST /chat."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from ..model.client import Usage
from ..web.requests import WHOLE, RequestModel
from .answer import Conversation
from .conversation import Turn
from .events import AnswerMode, AnswerReason, ChatData, QueryOrigin, SourceOfAnswer
from .legend import read_legend
from .routes import (
    DEFAULT_CHAT_TOP_K,
    LAST_TURN,
    MAX_TURN_CHARACTERS,
    MAX_TURNS,
    check_last_turn,
)

MAX_WISHES_CHARACTERS = 8_000
"""Of all system messages together."""

Text = Annotated[str, StringConstraints(max_length=MAX_TURN_CHARACTERS)]
Count = Annotated[int, Field(strict=True, ge=1), WHOLE]
Zero = Annotated[float, Field(ge=0, le=0)]


class TextPart(RequestModel):
    """A part of a message; no other kind than text can be answered."""

    type: Literal["text"]
    text: Text


class CompletionTurn(RequestModel):
    """A message as OpenAI's clients send it, with what they send back of earlier answers.

    `system` and `developer` are taken for wishes of the caller, never as instructions.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["user", "assistant", "system", "developer"]
    content: Text | Annotated[list[TextPart], Field(max_length=MAX_TURNS)]
    tool_calls: Literal[None] = None
    function_call: Literal[None] = None

    @model_validator(mode="before")
    @classmethod
    def refuse_unknown_fields(cls, values: object) -> object:
        """Let unknown fields be: clients send back whole messages of earlier answers."""
        return values

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


class TextFormat(RequestModel):
    """The one format of answers."""

    type: Literal["text"]


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
    response_format: TextFormat | None = None
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


class OpenAiModel(ChatData):
    """A model as OpenAI describes one."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str


class OpenAiModelList(ChatData):
    """Every model: there is one."""

    object: Literal["list"] = "list"
    data: list[OpenAiModel]


class UrlCitation(ChatData):
    """Where in the answer a passage is cited, in characters, and its address."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(ChatData):
    """A citation as OpenAI writes it."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class CompletionMessage(ChatData):
    """The answer."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class CompletionChoice(ChatData):
    """The one choice."""

    index: Literal[0] = 0
    message: CompletionMessage
    logprobs: None = None
    finish_reason: Literal["stop", "length"]


class CompletionAnswer(ChatData):
    """A chat completion as OpenAI writes it, with the passages and how the answer came about."""

    id: str
    created: int
    model: str
    object: Literal["chat.completion"] = "chat.completion"
    choices: list[CompletionChoice]
    usage: Usage | None
    query: str | None
    query_from: QueryOrigin
    query_notice: str | None
    sources: list[SourceOfAnswer]
    mode: AnswerMode
    reason: AnswerReason
