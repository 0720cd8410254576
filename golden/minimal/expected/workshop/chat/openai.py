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
from ..web.problems import Problem
from .answer import Chat
from .events import ChatData, ChatEvent, CitedPassage, Delta, Done, Failed, Sources
from .openai_requests import CompletionRequest, legend
from .routes import described_events

_CITATION = re.compile(r"\[([0-9]{1,3})\]")
_SEARCHED = {"query", "query_from", "query_notice", "sources"}
"""What an answer says of its search beside OpenAI's fields."""

_COMPLETION = described_events(
    "A chat.completion as OpenAI describes it; if `stream` is true, as server-sent events.",
    data={"type": "string", "description": "A chat.completion.chunk, an error, or [DONE]."},
)

_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


class OpenAiErrorDetail(ChatData):
    """Why a request was refused or failed; `param` is the field to mend."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAiError(ChatData):
    """An error as OpenAI's clients read it."""

    error: OpenAiErrorDetail


def openai_routes(chat: Chat, model_name: str) -> APIRouter:
    """Return the doors, answered by `chat` under the one name that it has."""
    errors = {"model": OpenAiError, "description": "The request was refused or failed."}
    routes = APIRouter(
        prefix="/v1", route_class=JsonRoute, tags=["openai"], responses={"default": errors}
    )
    model = {"id": model_name, "object": "model", "created": 0, "owned_by": model_name}

    @routes.get("/models", response_class=JsonResponse)
    async def list_models() -> JsonResponse:
        """List the one model that there is, as OpenAI lists models."""
        return JsonResponse({"object": "list", "data": [model]})

    @routes.get("/models/{name}", response_class=JsonResponse)
    async def describe_model(name: str) -> Response:
        """Describe the model of this name, as OpenAI describes one."""
        return JsonResponse(model) if name == model_name else _no_such_model(name)

    @routes.post("/chat/completions", response_class=JsonResponse, responses={200: _COMPLETION})
    async def complete_chat(completion: CompletionRequest, request: Request) -> Response:
        """Answer a question from the documents, streamed if the request says so."""
        if completion.model != model_name:
            return _no_such_model(completion.model)
        events = chat.answer(completion.conversation())
        head = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model_name,
        }
        if completion.stream:
            options = completion.stream_options
            is_counted = options is not None and options.include_usage is True
            return EventStream(_stream(events, head, is_counted=is_counted))
        whole = await while_connected(request.receive, _collect(events, head))
        return Response() if whole is None else JsonResponse(whole)

    return routes


def openai_problem(problem: Problem) -> Response:
    """Answer a problem of /v1 as OpenAI does, with 400 where others get 422."""
    status = 400 if problem.status == 422 else problem.status
    param = problem.errors[0][0] if problem.errors else None
    response = _error(status, problem.detail, param)
    response.headers.update(problem.headers)
    return response


def _no_such_model(name: str) -> Response:
    message = f"The model {name[:100]!a} does not exist; /v1/models names the one that does."
    return _error(404, message, "model", "model_not_found")


def _error(status: int, message: str, param: str | None, code: str | None = None) -> Response:
    default = "server_error" if status >= 500 else "invalid_request_error"
    kind = _ERROR_TYPES.get(status, default)
    detail = OpenAiErrorDetail(message=message, type=kind, param=param, code=code)
    return JsonResponse(OpenAiError(error=detail), status_code=status)


async def _collect(answer: AsyncGenerator[ChatEvent, None], head: dict[str, Any]) -> dict[str, Any]:
    """Return the whole answer. Raises HTTPException 502 if it broke off."""
    text = ""
    async with aclosing(answer) as events:
        async for event in events:
            match event:
                case Sources():
                    sources = event
                case Delta():
                    text += event.text
                case Failed():
                    raise HTTPException(502, event.message)
                case Done():
                    done = event
    message = {
        "role": "assistant",
        "content": text + legend(done.cited),
        "refusal": None,
        "annotations": _annotations(text, done.cited),
    }
    return {
        **head,
        "object": "chat.completion",
        "choices": [_choice("message", message, done)],
        "usage": done.usage,
        **sources.model_dump(include=_SEARCHED),
        "mode": done.mode,
        "reason": done.reason,
    }


async def _stream(
    answer: AsyncGenerator[ChatEvent, None], head: dict[str, Any], *, is_counted: bool
) -> AsyncGenerator[bytes, None]:
    """Yield the answer as chunks: the first with the passages, the last with the citations.

    If it `is_counted`, another says what it took.
    """

    def encode(**fields: object) -> bytes:
        return _event({**head, "object": "chat.completion.chunk", **fields})

    def chunk(delta: dict[str, Any], done: Done | None = None, **extra: object) -> bytes:
        return encode(choices=[_choice("delta", delta, done)], **extra)

    text = ""
    async with aclosing(answer) as events:
        async for event in events:
            match event:
                case Sources():
                    searched = event.model_dump(include=_SEARCHED)
                    yield chunk({"role": "assistant", "content": ""}, **searched)
                case Delta():
                    text += event.text
                    yield chunk({"content": event.text})
                case Failed():
                    error = {"message": event.message, "type": "server_error"}
                    yield _event({"error": {**error, "param": None, "code": None}})
                    return
                case Done():
                    if event.cited:
                        yield chunk({"content": legend(event.cited)})
                    yield chunk(
                        {"annotations": _annotations(text, event.cited)},
                        event,
                        mode=event.mode,
                        reason=event.reason,
                    )
                    if is_counted:
                        yield encode(choices=[], usage=event.usage)
    yield format_sse_event(data_str="[DONE]")


def _event(data: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=to_json(data).decode())


def _choice(name: str, content: dict[str, Any], done: Done | None) -> dict[str, Any]:
    reason = None if done is None else "length" if done.truncated else "stop"
    return {"index": 0, name: content, "logprobs": None, "finish_reason": reason}


def _annotations(text: str, cited: Sequence[CitedPassage]) -> list[dict[str, Any]]:
    """Return where in the text passages are cited, in characters, with their addresses."""
    passages = {passage.number: passage for passage in cited}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": match.start(),
                "end_index": match.end(),
                "title": passage.title,
                "url": passage.url,
            },
        }
        for match in _CITATION.finditer(text)
        if (passage := passages.get(int(match[1]))) is not None
    ]
