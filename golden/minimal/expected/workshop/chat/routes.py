"""POST /chat: its request, and the stream of events with which it responds."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError, to_json
from starlette.responses import StreamingResponse
from starlette.types import Send

from ..index.reader import current_index
from ..index.records import shorten
from ..json_text import escape_unsafe
from ..retrieval.journal import MAX_QUERY_LENGTH
from ..web.filtered import FilterValues
from ..web.requests import WHOLE, RequestModel
from ..web.routes import JsonRoute
from ..web.stopping import ServerStoppingError, stopping
from .answer import Answer, ChatEvent, Failed
from .conversation import DEFAULT_CHAT_TOP_K, Conversation, Turn, heading_of

MAX_MESSAGES = 10_000
MAX_TURNS, MAX_TURN_CHARACTERS = 64, 16_000  # Conversations may be longer; only this much is read.
KEEP_ALIVE_SECONDS = 15.0

# JSON Schema cannot express this rule.
LAST_TURN = f"The last is the user's question: not blank, at most {MAX_QUERY_LENGTH} characters."

ChunkId = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]


def cut_turns(turns: Sequence[Turn]) -> list[Turn]:
    """Return the newest turns, without blank ones, each cut to MAX_TURN_CHARACTERS.

    The question at the end is unchanged.
    """
    *earlier, question = turns[-MAX_TURNS:]
    return [
        *(
            replace(turn, content=shorten(turn.content, MAX_TURN_CHARACTERS))
            for turn in earlier
            if turn.content.strip()
        ),
        question,
    ]


class ChatTurn(RequestModel):
    """A message; `cited` are the ids of the chunks that an answer cited."""

    role: Literal["user", "assistant"]
    content: str | None
    cited: Annotated[tuple[ChunkId, ...], Field(max_length=20)] = ()

    def turn(self) -> Turn:
        """Return the turn, with the headings of the cited chunks that still exist."""
        index = current_index()
        numbers = chain.from_iterable(map(index.chunk_lines.numbers, self.cited))
        chunks = (chunk for chunk in index.chunks(numbers) if chunk.id in self.cited)
        return Turn(self.role, self.content or "", tuple(map(heading_of, chunks)))


class ChatRequest(RequestModel):
    """The body of POST /chat: a conversation whose last turn is the user's question."""

    messages: Annotated[
        list[ChatTurn], Field(min_length=1, max_length=MAX_MESSAGES, description=LAST_TURN)
    ]
    top_k: Annotated[int, Field(strict=True, ge=1, le=20), WHOLE] = DEFAULT_CHAT_TOP_K
    filters: FilterValues | None = None

    def conversation(self) -> Conversation:
        """Return the conversation to answer."""
        turns = [turn.turn() for turn in self.messages[-MAX_TURNS:]]
        return Conversation(cut_turns(turns), self.top_k, self.filters)

    @field_validator("messages")
    @classmethod
    def _end_with_a_question(cls, turns: list[ChatTurn]) -> list[ChatTurn]:
        if turns[-1].role != "user":
            raise PydanticCustomError("last_turn", "the last message must be the user's")
        if not (turns[-1].content or "").strip():
            raise PydanticCustomError("empty_turn", "the last message must not be empty")
        return turns


class EventStream(StreamingResponse):
    """Sends events as they arrive, with comments in between so that proxies keep the connection.

    The generator yields at least one event, and is closed as soon as the client is gone. Unlike
    FastAPI's streams, the response begins with the first event, so an error before it gets a normal
    error response.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, headers={"X-Accel-Buffering": "no"})
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """Send the events until they end; Starlette cancels this if the client disconnects."""

        async def send_piece(piece: bytes, *, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": piece, "more_body": more})

        async def keep_alive() -> None:
            while True:
                await asyncio.sleep(KEEP_ALIVE_SECONDS)
                await send_piece(KEEPALIVE_COMMENT)

        async with aclosing(self._events) as events:
            first = await anext(events)
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            keeping = asyncio.create_task(keep_alive())
            try:
                await send_piece(first)
                async for event in events:
                    await send_piece(event)
            finally:
                keeping.cancel()
        await send_piece(b"", more=False)


def chat_routes(answer: Answer, events: Any) -> APIRouter:
    """Return the route of POST /chat, which calls `answer` and documents `events`."""
    routes = APIRouter(route_class=JsonRoute, tags=["chat"])

    class Described(JSONResponse):
        """Makes FastAPI describe the data of the events that `EventStream` sends."""

        media_type = EventStream.media_type

    @routes.post("/chat", response_class=Described, response_model=events)
    def answer_chat(request: ChatRequest) -> EventStream:
        """Answer a question from the documents: `sources`, `delta`s, then `done` or `error`."""
        return EventStream(_encode(until_stopped(answer(request.conversation()))))

    return routes


async def until_stopped(
    answer: AsyncGenerator[ChatEvent, None],
) -> AsyncGenerator[ChatEvent, None]:
    """Yield the events of an answer; if the server stops, the last one reports it.

    Raises ServerStoppingError if it stops before the first event.
    """
    has_begun = False
    async with aclosing(answer) as events:
        while True:
            try:
                async with stopping.in_time():
                    event = await anext(events, None)
            except ServerStoppingError as error:
                if not has_begun:
                    raise
                event = Failed(error.detail)
            if event is None:
                return
            yield event
            has_begun = True
            if isinstance(event, Failed):
                return


async def _encode(events: AsyncGenerator[ChatEvent, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        async for event in events:
            yield format_event(event.to_json(), event.event)


def format_event(data: object, name: str | None = None) -> bytes:
    """Return a server-sent event with JSON as its data, on one line."""
    return format_sse_event(event=name, data_str=escape_unsafe(to_json(data).decode()))
