"""What callers of the chat get, for the OpenAPI document; answers are not checked when served."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal

from fastapi import APIRouter, Response
from fastapi.sse import format_sse_event
from pydantic import TypeAdapter
from pydantic_core import to_json

from ..retrieval.results import Mode, Reason
from ..web.answers import AnswerModel
from ..web.event_stream import EventStream
from ..web.json import JsonRoute
from ..web.problems import PROBLEM_RESPONSES
from .answer import Chat, Question
from .events import EVENT_NAMES, AnswerMode, AnswerReason, QueryOrigin
from .requests import ChatRequest


class CitationAnswer(AnswerModel):
    """A passage that an answer cites as `[number]`."""

    number: int
    id: str
    title: str
    url: str


class SourceOfAnswer(CitationAnswer):
    """A passage that an answer may cite; `text` is how it begins."""

    document_id: str
    section: list[str]
    path: str
    position: dict[str, int]
    text: str
    score: float


class QueryAnswer(AnswerModel):
    """What was searched for: null for a message that asks nothing, such as a thank-you.

    `query_from` says whose words it has: the question's, the conversation's for a question that
    follows up, or those of the model that rewrote it; `query_notice` why the model did not.
    """

    query: str | None
    query_from: QueryOrigin
    query_notice: str | None


class SourcesData(QueryAnswer):
    """The data of `sources`: the passages, and how POST /search finds the same."""

    mode: Mode | None
    reason: Reason | None
    degraded: bool
    unknown_identifiers: list[str]
    stages: dict[str, dict[str, Any]]
    sources: list[SourceOfAnswer]


class DeltaData(AnswerModel):
    """The data of `delta`: a piece of the answer."""

    text: str


class UsageAnswer(AnswerModel):
    """Tokens that the language model says it took."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class DoneData(AnswerModel):
    """The data of `done`: whose words the answer has and why, and what it cites."""

    mode: AnswerMode
    reason: AnswerReason
    notice: str | None
    cited: list[CitationAnswer]
    truncated: bool
    usage: UsageAnswer | None


class ErrorData(AnswerModel):
    """The data of `error`: why the answer broke off."""

    message: str


ChatEventData = SourcesData | DeltaData | DoneData | ErrorData


class OpenAiModel(AnswerModel):
    """A model as OpenAI describes one."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class OpenAiModelList(AnswerModel):
    """Every model: there is one."""

    object: Literal["list"]
    data: list[OpenAiModel]


class UrlCitation(AnswerModel):
    """Where in the answer a passage is cited, in characters, and its address."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(AnswerModel):
    """A citation as OpenAI writes it."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class CompletionMessage(AnswerModel):
    """The answer."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Annotation]


class CompletionChoice(AnswerModel):
    """The one choice."""

    index: Literal[0]
    message: CompletionMessage
    logprobs: None
    finish_reason: Literal["stop", "length"]


class CompletionAnswer(QueryAnswer):
    """A chat completion as OpenAI writes it, with the passages and how the answer came about."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: UsageAnswer | None
    sources: list[SourceOfAnswer]
    mode: AnswerMode
    reason: AnswerReason


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
