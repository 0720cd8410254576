"""/v1/models and /v1/chat/completions for OpenAI's clients."""

import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.sse import format_sse_event
from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException

from ..errors import InvalidRequestError
from ..web.disconnection import while_connected
from ..web.problems import answer_failure, describe_failure
from ..web.requests import WHOLE
from ..web.routes import JsonResponse, JsonRoute
from ..web.stopping import stopping
from .answer import Answer, ChatEvent, Delta, Done, Failed, Sources
from .conversation import Conversation, Turn
from .legend import annotations_of, ending_of, read_legend
from .openai_schemas import (
    ERRORS,
    REFERENCE,
    ChatCompletion,
    ChatCompletionChunk,
    ModelDescription,
    ModelList,
)
from .routes import (
    LAST_TURN,
    MAX_MESSAGES,
    MAX_TURNS,
    EventStream,
    cut_turns,
    format_event,
    until_stopped,
)

MAX_WISHES_CHARACTERS = 8_000

_SEARCHED = ("query", "query_from", "query_notice", "also_searched", "sources")
_ANSWERED = ("mode", "reason", "notice", "unsupported")
_ERROR_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CHUNK = ChatCompletionChunk.model_json_schema(ref_template=REFERENCE, mode="serialization")
_STREAM = {"text/event-stream": {"schema": _CHUNK}}
_WITHOUT_EFFECT: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "stop": ([],),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "logprobs": (False,),
    "logit_bias": ({},),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "web_search_options": (),
}
"""Parameters that would change the answer, with the values besides null that do not."""

Count = Annotated[int, Field(strict=True, ge=1), WHOLE]


class TextPart(BaseModel):
    """A text part of a message; other kinds are not supported."""

    type: Literal["text"]
    text: str


class CompletionTurn(BaseModel):
    """A message. The model reads `system` and `developer` texts as wishes for the answer's form."""

    role: Literal["user", "assistant", "system", "developer"]
    content: str | Annotated[list[TextPart], Field(max_length=MAX_MESSAGES)] | None = None

    @property
    def text(self) -> str:
        """The text of all parts."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class CompletionRequest(BaseModel):
    """The body of POST /v1/chat/completions; parameters without effect are ignored."""

    model: str
    messages: Annotated[
        list[CompletionTurn], Field(min_length=1, max_length=MAX_MESSAGES, description=LAST_TURN)
    ]
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None

    def conversation(self) -> Conversation:
        """Return the conversation to answer."""
        limits = [limit for limit in (self.max_tokens, self.max_completion_tokens) if limit]
        turns = cut_turns(
            [
                Turn("user", turn.text) if turn.role == "user" else read_legend(turn.text)
                for turn in self._said()[-MAX_TURNS:]
            ]
        )
        options = {"temperature": self.temperature, "top_p": self.top_p}
        most = min(limits, default=None)
        return Conversation(turns, wishes=self._wishes(), max_tokens=most, options=options)

    def _said(self) -> list[CompletionTurn]:
        return [turn for turn in self.messages if turn.role in ("user", "assistant")]

    def _wishes(self) -> str:
        roles = ("system", "developer")
        return "\n".join(turn.text for turn in self.messages if turn.role in roles)

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_changes_the_answer(cls, values: object) -> object:
        for name, harmless in _WITHOUT_EFFECT.items():
            value = values.get(name) if isinstance(values, dict) else None
            if value is not None and value not in harmless:
                message = "is not supported, because it would change the answer; leave it out"
                raise InvalidRequestError(message, field=name)
        return values

    @model_validator(mode="after")
    def _check_turns(self) -> "CompletionRequest":
        if not self._said() or self._said()[-1].role != "user":
            raise PydanticCustomError("last_turn", "the last message must be the user's")
        if not self._said()[-1].text.strip():
            raise PydanticCustomError("empty_turn", "the last message must not be empty")
        if len(self._wishes()) > MAX_WISHES_CHARACTERS:
            message = "messages: system messages must have at most {most} characters in total"
            raise PydanticCustomError("wishes", message, {"most": MAX_WISHES_CHARACTERS})
        return self


def openai_routes(answer: Answer, model_name: str) -> APIRouter:
    """Return the routes for models and chats, which call `answer`; their model is `model_name`."""
    routes = APIRouter(prefix="/v1", route_class=JsonRoute, tags=["openai"], responses=ERRORS)
    model = {"id": model_name, "object": "model", "created": 0, "owned_by": model_name}

    @routes.get("/models", response_model=ModelList)
    async def list_models() -> JsonResponse:
        """List the server's only model, in OpenAI's format."""
        return JsonResponse({"object": "list", "data": [model]})

    @routes.get("/models/{name}", response_model=ModelDescription)
    async def describe_model(name: str) -> Response:
        """Describe the server's model, in OpenAI's format; 404 for any other name."""
        if name == model_name:
            return JsonResponse(model)
        message = f"The model {name[:100]!a} does not exist; see /v1/models."
        error = _error(message, "invalid_request_error", "model", "model_not_found")
        return JsonResponse(error, status_code=404)

    @routes.post(
        "/chat/completions",
        response_model=ChatCompletion,
        responses={200: {"content": _STREAM}},
    )
    async def complete_chat(completion: CompletionRequest, request: Request) -> Response:
        """Answer a question from the documents; streamed if requested."""
        events = answer(completion.conversation())
        asked = sum(count_words(turn.text) for turn in completion.messages)
        identity = f"chatcmpl-{secrets.token_hex(12)}"
        head = {"id": identity, "created": int(time.time()), "model": model_name}
        if completion.stream:
            is_counted = (completion.stream_options or {}).get("include_usage") is True
            stream = _stream(until_stopped(events), head, asked, is_counted=is_counted)
            return EventStream(stream)
        whole = await while_connected(request.receive, _collect(events, head, asked))
        return Response() if whole is None else JsonResponse(whole)

    return routes


async def answer_openai_failure(request: Request, failure: Exception) -> Response:
    """Return the response to a failed request; below /v1 in OpenAI's format, and 400 for a 422."""
    if not request.scope["path"].startswith("/v1/"):
        return await answer_failure(request, failure)
    problem = describe_failure(request, failure)
    status = 400 if problem.status == 422 else problem.status
    param = problem.errors[0]["field"] if problem.errors else None
    default = "server_error" if status >= 500 else "invalid_request_error"
    error = _error(problem.detail, _ERROR_TYPES.get(status, default), param)
    return JsonResponse(error, status_code=status, headers=dict(problem.headers))


def _error(message: str, kind: str, param: str | None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def count_words(text: str) -> int:
    """Return the number of words, which is reported instead of tokens if no model was called."""
    return len(text.split())


def _usage(done: Done, asked: int, text: str) -> dict[str, Any]:
    """Return the field `usage`: a model's tokens, or numbers of words if no model was called.

    Returns {} if the model reported no tokens.
    """
    if done.usage or done.mode == "model":
        return {"usage": done.usage} if done.usage else {}
    counts = {"prompt_tokens": asked, "completion_tokens": count_words(text)}
    return {"usage": {**counts, "total_tokens": sum(counts.values())}}


async def _collect(
    answer: AsyncGenerator[ChatEvent, None], head: dict[str, Any], asked: int
) -> dict[str, Any]:
    """Return the complete answer. Raises HTTPException 502 if it breaks off, 503 at shutdown."""
    text = ""
    async with stopping.in_time(), aclosing(answer) as events:
        async for event in events:
            match event:
                case Sources():
                    searched = _searched(event)
                case Delta():
                    text += event.text
                case Failed():
                    raise HTTPException(502, event.message)
                case Done():
                    done = event
    content, annotations = text + ending_of(done), annotations_of(text, done.cited)
    message = {"role": "assistant", "content": content, "refusal": None, "annotations": annotations}
    how = {**_usage(done, asked, text), **searched, **_how(done)}
    choices = [_choice("message", message, done)]
    return {**head, "object": "chat.completion", "choices": choices, **how}


async def _stream(
    answer: AsyncGenerator[ChatEvent, None], head: dict[str, Any], asked: int, *, is_counted: bool
) -> AsyncGenerator[bytes, None]:
    """Yield the answer as chunks: the first has the passages, the last the citations."""

    def chunk(delta: dict[str, Any], done: Done | None = None, **extra: object) -> bytes:
        return format_event({**head, "choices": [_choice("delta", delta, done)], **extra})

    head = {**head, "object": "chat.completion.chunk"}
    text = ""
    async with aclosing(answer) as events:
        async for event in events:
            match event:
                case Sources():
                    yield chunk({"role": "assistant", "content": ""}, **_searched(event))
                case Delta():
                    text += event.text
                    yield chunk({"content": event.text})
                case Failed():
                    yield format_event(_error(event.message, "server_error", None))
                    return
                case Done():
                    if ending := ending_of(event):
                        yield chunk({"content": ending})
                    annotations = {"annotations": annotations_of(text, event.cited)}
                    yield chunk(annotations, event, **_how(event))
                    if is_counted:
                        counts = {"usage": None, **_usage(event, asked, text)}
                        yield format_event({**head, "choices": [], **counts})
    yield format_sse_event(data_str="[DONE]")


def _searched(sources: Sources) -> dict[str, Any]:
    values = sources.to_json()
    return {name: values[name] for name in _SEARCHED if name in values}


def _how(done: Done) -> dict[str, Any]:
    values = done.to_json()
    return {name: values[name] for name in _ANSWERED if name in values}


def _choice(name: str, content: dict[str, Any], done: Done | None) -> dict[str, Any]:
    reason = None if done is None else "length" if done.truncated else "stop"
    return {"index": 0, name: content, "logprobs": None, "finish_reason": reason}
