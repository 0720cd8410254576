"""What callers of the chat send, checked by these models."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from ..index.served import current_index
from ..retrieval.results import MAX_QUERY_LENGTH
from ..web.requests import WHOLE, FilterValues, RequestModel
from .answer import Question
from .legend import read_legend
from .passages import heading_of
from .prompt import Turn

MAX_TURNS = 64
MAX_TURN_LENGTH = 16_000
"""Characters; the last turn is searched for, and may have as many as a query."""

MAX_CHAT_TOP_K = 20
DEFAULT_CHAT_TOP_K = 6


MAX_WISHES_LENGTH = 8_000
"""Characters of all system messages together."""


MAX_CITED = 20

# No schema can say it.
LAST_TURN = (
    "The last, systems' messages aside, is the user's question:"
    f" not blank, of at most {MAX_QUERY_LENGTH} characters."
)


class ChatTurn(RequestModel):
    """Something that was said; `cited` are the ids of the passages that an answer cited."""

    role: Literal["user", "assistant"]
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TURN_LENGTH)]
    cited: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=4_096)], ...],
        Field(max_length=MAX_CITED),
    ] = ()

    def turn(self) -> Turn:
        """The turn, with the headings of the passages that there still are."""
        chunks = [chunk for cited in self.cited if (chunk := current_index().find_chunk(cited))]
        return Turn(self.role, self.content, tuple(heading_of(chunk) for chunk in chunks))


class ChatRequest(RequestModel):
    """The body of POST /chat: a conversation whose last turn is the user's question."""

    messages: Annotated[
        list[ChatTurn],
        Field(min_length=1, max_length=MAX_TURNS, description=LAST_TURN),
    ]
    top_k: Annotated[int, Field(strict=True, ge=1, le=MAX_CHAT_TOP_K), WHOLE] = DEFAULT_CHAT_TOP_K
    filters: FilterValues | None = None

    def question(self) -> Question:
        """The request as a question. Raises InvalidRequestError for filters that cannot be."""
        turns = [turn.turn() for turn in self.messages]
        filters = current_index().filters.parse(self.filters) if self.filters else None
        return Question(turns, self.top_k, filters)

    @model_validator(mode="after")
    def _check_last_turn(self) -> "ChatRequest":
        check_last_turn([Turn(turn.role, turn.content) for turn in self.messages])
        return self


def check_last_turn(turns: list[Turn]) -> None:
    """Raise PydanticCustomError unless the last turn is a question that can be searched for."""
    problem = None
    if not turns or turns[-1].role != "user":
        problem = "the last message must be the user's"
    elif not turns[-1].content.strip():
        problem = "the last message must not be empty"
    elif len(turns[-1].content) > MAX_QUERY_LENGTH:
        problem = f"the last message must have at most {MAX_QUERY_LENGTH} characters"
    if problem:
        raise PydanticCustomError("last_turn", "messages: {problem}", {"problem": problem})


class TextPart(RequestModel):
    """A part of a message; no other kind than text can be answered."""

    type: Literal["text"]
    text: Annotated[str, StringConstraints(max_length=MAX_TURN_LENGTH)]


class CompletionTurn(RequestModel):
    """A message as OpenAI's clients send it, with what they send back of earlier answers.

    `system` and `developer` are taken for wishes of the caller, never as instructions.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["user", "assistant", "system", "developer"]
    content: (
        Annotated[str, StringConstraints(max_length=MAX_TURN_LENGTH)]
        | Annotated[list[TextPart], Field(max_length=MAX_TURNS)]
    )
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


Count = Annotated[int, Field(strict=True, ge=1), WHOLE]


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
    frequency_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
    presence_penalty: Annotated[float, Field(ge=0, le=0)] | None = None
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

    def question(self) -> Question:
        """The request as a question."""
        limits = [limit for limit in (self.max_tokens, self.max_completion_tokens) if limit]
        return Question(
            turns=self._turns(),
            top_k=DEFAULT_CHAT_TOP_K,
            wishes=self._wishes(),
            max_tokens=min(limits, default=None),
            temperature=self.temperature,
            top_p=self.top_p,
        )

    def _turns(self) -> list[Turn]:
        return [
            read_legend(message.text) if message.role == "assistant" else Turn("user", message.text)
            for message in self.messages
            if message.role == "user" or message.role == "assistant"
        ]

    def _wishes(self) -> str:
        roles = {"system", "developer"}
        return "\n".join(message.text for message in self.messages if message.role in roles)

    @model_validator(mode="after")
    def _check_turns(self) -> "CompletionRequest":
        check_last_turn(self._turns())
        if len(self._wishes()) > MAX_WISHES_LENGTH:
            raise PydanticCustomError(
                "wishes",
                "messages: those of the system must have at most {most} characters",
                {"most": MAX_WISHES_LENGTH},
            )
        return self
