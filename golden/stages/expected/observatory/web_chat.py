"""POST /chat: an answer with its sources, as server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Response
from fastapi.sse import format_sse_event
from pydantic import TypeAdapter
from pydantic_core import to_json

from .chat_answer import Chat, Question
from .chat_events import EVENT_NAMES
from .web_chat_answers import ChatEventData
from .web_chat_requests import ChatRequest
from .web_event_stream import EventStream
from .web_json import JsonRoute
from .web_problems import PROBLEM_RESPONSES

_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events: `sources`, any number of `delta`, then `done` or `error`.",
        "content": {
            "text/event-stream": {
                "itemSchema": {
                    "type": "object",
                    "required": ["event", "data"],
                    "properties": {
                        "event": {"enum": list(EVENT_NAMES.values())},
                        "data": {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "contentSchema": TypeAdapter(ChatEventData).json_schema(),
                        },
                    },
                }
            }
        },
    }
}


def chat_routes(chat: Chat) -> APIRouter:
    """POST /chat, answered by `chat`."""
    routes = APIRouter(route_class=JsonRoute, tags=["chat"], responses=PROBLEM_RESPONSES)

    @routes.post("/chat", response_class=Response, responses=_EVENTS)
    async def answer_chat(request: ChatRequest) -> EventStream:
        """Answer a question from the documents, citing them."""
        return EventStream(_encode(chat, request.question()))

    return routes


async def _encode(chat: Chat, question: Question) -> AsyncGenerator[bytes, None]:
    async with aclosing(chat.answer(question)) as events:
        async for event in events:
            yield format_sse_event(
                event=EVENT_NAMES[type(event)], data_str=to_json(event.to_json()).decode()
            )
