"""The doors that OpenAI's clients know: /v1/models and /v1/chat/completions."""

import re
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.sse import format_sse_event
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from ..web.event_stream import EventStream, while_connected
from ..web.json import JsonResponse, JsonRoute
from .answer import Chat
from .events import Delta, Done, Failed, Sources
from .legend import legend
from .openai_errors import OPENAI_ERROR_RESPONSES, openai_error
from .passages import NumberedPassage
from .requests import CompletionRequest
from .routes import CompletionAnswer, OpenAiModel, OpenAiModelList

_CHUNKS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; as server-sent events if `stream` is true.",
        "content": {
            "text/event-stream": {
                "itemSchema": {
                    "type": "object",
                    "required": ["data"],
                    "properties": {
                        "data": {
                            "type": "string",
                            "description": "A chat.completion.chunk, an error, or [DONE].",
                        }
                    },
                }
            }
        },
    }
}

_CITATION = re.compile(r"\[([0-9]{1,3})\]")


def openai_routes(chat: Chat, model_name: str) -> APIRouter:
    """The doors, answered by `chat` under the one name that it has."""
    routes = APIRouter(
        prefix="/v1", route_class=JsonRoute, tags=["openai"], responses=OPENAI_ERROR_RESPONSES
    )
    model = {"id": model_name, "object": "model", "created": 0, "owned_by": model_name}

    @routes.get("/models", response_model=OpenAiModelList)
    async def list_models() -> JsonResponse:
        """The one model that there is."""
        return JsonResponse({"object": "list", "data": [model]})

    @routes.get("/models/{name}", response_model=OpenAiModel)
    async def describe_model(name: str) -> Response:
        """The model of this name."""
        return JsonResponse(model) if name == model_name else _no_such_model(name)

    @routes.post("/chat/completions", response_model=CompletionAnswer, responses=_CHUNKS)
    async def complete_chat(completion: CompletionRequest, request: Request) -> Response:
        """Answer a question from the documents, streamed if the request says so."""
        if completion.model != model_name:
            return _no_such_model(completion.model)
        answer = _Completion(chat, completion)
        if completion.stream:
            return EventStream(answer.stream())
        whole = await while_connected(request.receive, answer.collect())
        return Response() if whole is None else JsonResponse(whole)

    return routes


def _no_such_model(name: str) -> Response:
    return openai_error(
        404,
        f"The model {name[:100]!a} does not exist; /v1/models names the one that does.",
        param="model",
        code="model_not_found",
    )


class _Completion:
    """One answer in OpenAI's shape."""

    def __init__(self, chat: Chat, request: CompletionRequest) -> None:
        self._events = chat.answer(request.question())
        options = request.stream_options
        self._include_usage = options is not None and bool(options.include_usage)
        self._base = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": request.model,
        }

    async def collect(self) -> dict[str, Any]:
        """The whole answer. Raises HTTPException 502 if it broke off."""
        text = ""
        extra: dict[str, Any] = {}
        async with aclosing(self._events) as events:
            async for event in events:
                if isinstance(event, Sources):
                    extra = _searched(event)
                elif isinstance(event, Delta):
                    text += event.text
                elif isinstance(event, Failed):
                    raise HTTPException(502, event.message)
                else:
                    done = event
        message = {
            "role": "assistant",
            "content": text + legend(done.cited),
            "refusal": None,
            "annotations": _annotations(text, done.cited),
        }
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _finish_reason(done),
        }
        return {
            **self._base,
            "object": "chat.completion",
            "choices": [choice],
            "usage": done.usage and done.usage.to_json(),
            **extra,
            "mode": done.mode,
            "reason": done.reason,
        }

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """The answer as chunks: the first with the passages, the last with the citations."""
        text = ""
        async with aclosing(self._events) as events:
            async for event in events:
                if isinstance(event, Sources):
                    begin = {"role": "assistant", "content": ""}
                    yield self._chunk(begin, **_searched(event))
                elif isinstance(event, Delta):
                    text += event.text
                    yield self._chunk({"content": event.text})
                elif isinstance(event, Failed):
                    error = {"message": event.message, "type": "server_error"}
                    yield _event({"error": {**error, "param": None, "code": None}})
                    return
                else:
                    if event.cited:
                        yield self._chunk({"content": legend(event.cited)})
                    yield self._chunk(
                        {"annotations": _annotations(text, event.cited)},
                        _finish_reason(event),
                        mode=event.mode,
                        reason=event.reason,
                    )
                    if self._include_usage:
                        usage = event.usage and event.usage.to_json()
                        yield self._event(choices=[], usage=usage)
        yield format_sse_event(data_str="[DONE]")

    def _chunk(
        self, delta: dict[str, Any], finish_reason: str | None = None, **extra: object
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._event(choices=[choice], **extra)

    def _event(self, **fields: object) -> bytes:
        return _event({**self._base, "object": "chat.completion.chunk", **fields})


def _event(data: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=to_json(data).decode())


def _searched(sources: Sources) -> dict[str, Any]:
    """What was searched for, and found, beside OpenAI's fields."""
    return {**sources.query_json(), "sources": sources.to_json()["sources"]}


def _finish_reason(done: Done) -> str:
    return "length" if done.truncated else "stop"


def _annotations(text: str, cited: Sequence[NumberedPassage]) -> list[dict[str, Any]]:
    passages = {passage.number: passage for passage in cited}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": match.start(),
                "end_index": match.end(),
                "title": passage.hit.chunk.title,
                "url": passage.url,
            },
        }
        for match in _CITATION.finditer(text)
        if (passage := passages.get(int(match[1]))) is not None
    ]
