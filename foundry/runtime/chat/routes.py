"""POST /chat: a conversation in, an answer as server-sent events out."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from fastapi.sse import format_sse_event
from pydantic import Field, StringConstraints, TypeAdapter, model_validator
from pydantic_core import PydanticCustomError, to_json

from ..index.served import current_index
from ..retrieval.results import MAX_QUERY_LENGTH
from ..web.event_stream import EventStream
from ..web.json import JsonRoute
from ..web.problems import PROBLEM_RESPONSES
from ..web.requests import WHOLE, FilterValues, RequestModel
from .answer import Chat, Conversation
from .conversation import Turn
from .events import ChatEvent, Delta, Done, Failed, Sources, heading_of

MAX_TURNS = 64
MAX_TURN_CHARACTERS = 16_000
"""The last turn is searched for, and may have as many as a query."""

MAX_CITED = 20
MAX_ID_CHARACTERS = 4_096
MAX_CHAT_TOP_K = 20
DEFAULT_CHAT_TOP_K = 6

# No schema can say it.
LAST_TURN = (
    "The last, systems' messages aside, is the user's question:"
    f" not blank, of at most {MAX_QUERY_LENGTH} characters."
)


class ChatTurn(RequestModel):
    """Something that was said; `cited` are the ids of the passages that an answer cited."""

    role: Literal["user", "assistant"]
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TURN_CHARACTERS)]
    cited: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_CHARACTERS)], ...],
        Field(max_length=MAX_CITED),
    ] = ()

    def turn(self) -> Turn:
        """Return the turn, with the headings of the passages that there still are."""
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

    def conversation(self) -> Conversation:
        """Return what is asked."""
        return Conversation([turn.turn() for turn in self.messages], self.top_k, self.filters)

    @model_validator(mode="after")
    def _check_last_turn(self) -> "ChatRequest":
        check_last_turn(self.messages[-1].role, self.messages[-1].content)
        return self


def check_last_turn(role: str | None, content: str) -> None:
    """Raise PydanticCustomError unless the last turn is a question that can be searched for."""
    problem = None
    if role != "user":
        problem = "the last message must be the user's"
    elif not content.strip():
        problem = "the last message must not be empty"
    elif len(content) > MAX_QUERY_LENGTH:
        problem = f"the last message must have at most {MAX_QUERY_LENGTH} characters"
    if problem:
        raise PydanticCustomError("last_turn", "messages: {problem}", {"problem": problem})


def chat_routes(chat: Chat) -> APIRouter:
    """Return the route of POST /chat, answered by `chat`."""
    routes = APIRouter(route_class=JsonRoute, tags=["chat"], responses=PROBLEM_RESPONSES)

    @routes.post("/chat", response_class=Response, responses={200: _EVENTS})
    async def answer_chat(request: ChatRequest) -> EventStream:
        """Answer a question from the documents, citing them."""
        return EventStream(_encode(chat.answer(request.conversation())))

    return routes


async def _encode(answer: AsyncGenerator[ChatEvent, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(answer) as events:
        async for event in events:
            yield format_sse_event(event=event.event, data_str=to_json(event).decode())


def described_events(description: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return what the OpenAPI document says of a stream of events with these properties."""
    item = {"type": "object", "required": list(properties), "properties": properties}
    return {"description": description, "content": {"text/event-stream": {"itemSchema": item}}}


def _inline(schema: Any, definitions: dict[str, Any]) -> Any:
    """Replace every reference by what it names; no definition holds itself.

    A reference within a part of the OpenAPI document would be read from the root of the whole.
    """
    match schema:
        case {"$ref": str(name)}:
            return _inline(definitions[name.removeprefix("#/$defs/")], definitions)
        case dict():
            return {key: _inline(part, definitions) for key, part in schema.items()}
        case list():
            return [_inline(part, definitions) for part in schema]
    return schema


_DATA = TypeAdapter(ChatEvent).json_schema(mode="serialization")
_EVENTS = described_events(
    "Events: `sources`, any number of `delta`, then `done` or `error`.",
    event={"enum": [kind.event for kind in (Sources, Delta, Done, Failed)]},
    data={
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": _inline(_DATA, _DATA.pop("$defs")),
    },
)
