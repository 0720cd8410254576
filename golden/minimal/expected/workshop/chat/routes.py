"""POST /chat: a conversation in, an answer as server-sent events out."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from fastapi.sse import format_sse_event
from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError, to_json

from ..index.served import current_index
from ..retrieval.results import MAX_QUERY_LENGTH
from ..web.event_stream import EventStream
from ..web.json import JsonRoute
from ..web.problems import PROBLEM_RESPONSES
from ..web.requests import WHOLE, FilterValues, RequestModel
from .answer import Chat, ChatEvent
from .conversation import Turn
from .prompt import heading_of

MAX_TURNS = 64
MAX_TURN_CHARACTERS = 16_000
MAX_CHAT_TOP_K = 20
DEFAULT_CHAT_TOP_K = 6

# No schema can say it.
LAST_TURN = f"The last is the user's question: not blank, at most {MAX_QUERY_LENGTH} characters."

ChunkId = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]


class ChatTurn(RequestModel):
    """One message; `cited` are the ids of the chunks that an answer cited."""

    role: Literal["user", "assistant"]
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TURN_CHARACTERS)]
    cited: Annotated[tuple[ChunkId, ...], Field(max_length=20)] = ()

    def turn(self) -> Turn:
        """Return the turn, with the headings of those chunks that still exist."""
        chunks = [chunk for cited in self.cited if (chunk := current_index().find_chunk(cited))]
        return Turn(self.role, self.content, tuple(heading_of(chunk) for chunk in chunks))


class ChatRequest(RequestModel):
    """The body of POST /chat: a conversation whose last turn is the user's question."""

    messages: Annotated[
        list[ChatTurn], Field(min_length=1, max_length=MAX_TURNS, description=LAST_TURN)
    ]
    top_k: Annotated[int, Field(strict=True, ge=1, le=MAX_CHAT_TOP_K), WHOLE] = DEFAULT_CHAT_TOP_K
    filters: FilterValues | None = None

    @field_validator("messages")
    @classmethod
    def _end_with_a_question(cls, turns: list[ChatTurn]) -> list[ChatTurn]:
        if turns[-1].role != "user":
            raise PydanticCustomError("last_turn", "the last message must be the user's")
        return turns


class _Described(JSONResponse):
    """Makes FastAPI describe the data of the events, which `EventStream` sends."""

    media_type = EventStream.media_type


def chat_routes(chat: Chat) -> APIRouter:
    """Return the route of POST /chat, answered by `chat`."""
    routes = APIRouter(route_class=JsonRoute, tags=["chat"], responses=PROBLEM_RESPONSES)

    @routes.post("/chat", response_class=_Described, response_model=ChatEvent)
    async def answer_chat(request: ChatRequest) -> EventStream:
        """Answer a question from the documents: `sources`, `delta`s, then `done` or `error`."""
        turns = [turn.turn() for turn in request.messages]
        return EventStream(_encode(chat.answer(turns, request.top_k, request.filters)))

    return routes


async def _encode(answer: AsyncGenerator[ChatEvent, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(answer) as events:
        async for event in events:
            yield format_sse_event(event=event.event, data_str=to_json(event.to_json()).decode())
