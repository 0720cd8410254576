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


def _inline(schema: Any, definitions: dict[str, Any]) -> Any:
    """The schema with every reference replaced by what it names; no definition holds itself.

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


_DATA = TypeAdapter(ChatEventData).json_schema(mode="serialization")
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
                            "contentSchema": _inline(_DATA, _DATA.pop("$defs")),
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
