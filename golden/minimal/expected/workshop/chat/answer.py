"""POST /chat: answers a question from what a search finds, by a language model or by extracts."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic_core import to_json
from starlette.responses import StreamingResponse
from starlette.types import Send

from ..index.reader import current_index
from ..index.records import Record
from ..language_model import BudgetSpentError, LanguageModel, ModelChunk, ModelError, ModelSettings
from ..retrieval.filters import Filters
from ..retrieval.results import Match, Mode, Reason
from ..web.problems import PROBLEM_RESPONSES
from ..web.requests import AsyncSearch
from ..web.routes import JsonRoute
from .conversation import ENGLISH, ChatRequest, LanguageWords, Turn, is_readable, kind_of, query_of
from .prompt import (
    CitedPassage,
    NumberedPassage,
    SourceOfAnswer,
    answer_messages,
    condense_messages,
    extract,
    number_passages,
)
from .text import CitationFilter, MarkupFilter, disarm

KEEP_ALIVE_SECONDS = 15.0
CONDENSE_SECONDS, CONDENSE_TOKENS, MAX_CONDENSED_CHARACTERS = 4.0, 128, 500

_logger = logging.getLogger(__name__)

AnswerReason = Literal[
    "default", "no_model", "model_failed", "budget_spent", "nothing_found", "acknowledgement"
]
QueryOrigin = Literal["question", "conversation", "model", "none"]


@dataclass(frozen=True, slots=True)
class Sources(Record):
    """First: the passages that the answer may cite, and how POST /search finds the same."""

    event: ClassVar = "sources"
    query: str | None  # None of a message that asks nothing.
    query_from: QueryOrigin
    query_notice: str | None  # Why the model did not word the query.
    mode: Mode | None
    reason: Reason | None
    degraded: bool
    match: Match | None
    unknown_identifiers: list[str]
    stages: dict[str, dict[str, Any]]
    sources: list[SourceOfAnswer]


@dataclass(frozen=True, slots=True)
class Delta(Record):
    """Then: the text of the answer, piece by piece."""

    event: ClassVar = "delta"
    text: str


@dataclass(frozen=True, slots=True)
class Done(Record):
    """Last: how the answer came about, which passages it cites, and the tokens that it took."""

    event: ClassVar = "done"
    mode: Literal["model", "extractive"]
    reason: AnswerReason
    notice: str | None
    cited: list[CitedPassage]
    truncated: bool
    usage: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class Failed(Record):
    """Last, instead of `Done`: why the answer broke off."""

    event: ClassVar = "error"
    message: str


ChatEvent = Sources | Delta | Done | Failed


@dataclass
class Chat:
    """Answers questions as the owner instructs; all requests share one, in one event loop."""

    search: AsyncSearch
    settings: InitVar[ModelSettings | None]
    instructions: str
    language: LanguageWords = ENGLISH

    def __post_init__(self, settings: ModelSettings | None) -> None:
        self._model = LanguageModel(settings) if settings else None

    async def answer(
        self,
        turns: Sequence[Turn],
        top_k: int,
        filters: Filters | None = None,
        *,
        wishes: str = "",
        max_tokens: int | None = None,
        **options: float | None,
    ) -> AsyncGenerator[ChatEvent, None]:
        """Yield the events of an answer to the last turn. May first raise InvalidRequestError."""
        if kind_of(turns, current_index(), self.language) == "acknowledgement":
            yield Sources(None, "none", None, None, None, False, None, [], {}, [])
            yield Delta("You are welcome. Ask whatever else you want to know.")
            yield Done("extractive", "acknowledgement", None, [], False, None)
            return
        usage: Counter[str] = Counter()
        query, query_from, notice = await self._query(turns, usage)
        search = await self.search(query, top_k, filters=filters)
        passages = number_passages(search.hits)
        how = (search.mode, search.reason, search.degraded, search.match)
        unknown, stages = list(search.unknown_identifiers), dict(search.stages)
        found = [passage.source for passage in passages]
        sources = Sources(search.query, query_from, notice, *how, unknown, stages, found)
        yield sources
        failure = None
        if self._model is not None and passages:
            messages = answer_messages(turns, passages, self.instructions, unknown, wishes)
            most = self._model.settings.max_tokens
            chunks = self._model.stream(messages, min(max_tokens or most, most), **options)
            try:
                async with aclosing(_checked(chunks, passages, usage)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                _logger.warning("the language model %s", error)
                failure = error
        text, done = _extracts(sources, passages, failure, usage)
        yield Delta(text)
        yield done

    async def _query(
        self, turns: Sequence[Turn], usage: Counter[str]
    ) -> tuple[str, QueryOrigin, str | None]:
        """Return what to search for, who worded it, and why the model did not if it was asked."""
        text, index, notice = turns[-1].content, current_index(), None
        is_follow_up = kind_of(turns, index, self.language) == "follow_up"
        is_unclear = len(turns) > 1 and not is_readable(text, index, self.language)
        if self._model is not None and (is_follow_up or is_unclear):
            try:
                messages = condense_messages(turns)
                reply = await self._model.complete(messages, CONDENSE_TOKENS, CONDENSE_SECONDS)
                usage.update(reply.usage or {})
                query = " ".join(reply.text.split())
                if 0 < len(query) <= MAX_CONDENSED_CHARACTERS:
                    return query, "model", None
                notice = "The language model sent no usable query."
            except ModelError as error:
                _logger.warning("the language model did not condense a question: it %s", error)
                notice = f"The language model {error}."
        if is_follow_up:
            return query_of(turns, index, self.language), "conversation", notice
        return text, "question", notice


async def _checked(
    chunks: AsyncGenerator[ModelChunk, None],
    passages: Sequence[NumberedPassage],
    usage: Counter[str],
) -> AsyncGenerator[ChatEvent, None]:
    """Yield a model's answer, made safe. Raises ModelError if it fails before its first word."""
    citations = CitationFilter(len(passages))
    markup = MarkupFilter(passage.addressed for passage in passages)
    has_begun = False
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                text = markup.feed(citations.feed(chunk.text))
                if chunk.finish_reason:
                    text += markup.feed(citations.finish()) + markup.finish()
                if text:
                    has_begun = True
                    yield Delta(text)
    except ModelError as error:
        if not has_begun:
            raise
        _logger.warning("the language model %s", error)
        yield Failed(f"The language model {error}.")
        return
    cited = [passages[number - 1].source.cited() for number in citations.cited]
    usage.update(chunk.usage or {})
    is_cut = chunk.finish_reason == "length"
    yield Done("model", "default", None, cited, is_cut, dict(usage) or None)


def _extracts(
    sources: Sources,
    passages: Sequence[NumberedPassage],
    failure: ModelError | None,
    usage: Counter[str],
) -> tuple[str, Done]:
    """Return an answer of the passages' own sentences, which says why it is one."""
    reason: AnswerReason = "model_failed" if failure else "no_model"
    if isinstance(failure, BudgetSpentError):
        reason = "budget_spent"
    why = f"the language model {failure}" if failure else "no language model is configured"
    extracts: list[tuple[NumberedPassage, str]] = []
    # Sentences that resemble a question about what is unknown are about something else.
    if sources.match != "none" and not sources.unknown_identifiers:
        extracts = extract(sources.query or "", passages, current_index())
    if sources.unknown_identifiers:
        reason = "nothing_found"
        text = notice = f"The documents do not mention {', '.join(sources.unknown_identifiers)}."
    elif extracts:
        notice = f"Extracted from the documents; {why}."
        known = [passage.addressed for passage in passages]
        said = [f"{disarm(text, known)} [{passage.source.number}]" for passage, text in extracts]
        text = "\n\n".join([*said, notice])
    elif failure is None:
        reason, text = "nothing_found", "Nothing was found in the documents about this."
        notice = "No passage is near enough to the question."
    else:
        # The passages may hold the answer all the same.
        text = notice = f"{why.capitalize()}, and no sentence of the documents answers by itself."
    cited = list(dict.fromkeys(passage.source.cited() for passage, _ in extracts))
    return text, Done("extractive", reason, notice, cited, False, dict(usage) or None)


class EventStream(StreamingResponse):
    """Sends events as they come, and comments in between so that proxies keep the connection.

    The generator yields one event at least, and is closed as soon as the client is gone. Unlike
    FastAPI's streams, the response begins with the first event: an error before it is answered like
    that of any other request.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, headers={"X-Accel-Buffering": "no"})
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """Send the events until they end; Starlette cancels this when the client is gone."""

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


def chat_routes(chat: Chat) -> APIRouter:
    """Return the route of POST /chat, answered by `chat`."""
    routes = APIRouter(route_class=JsonRoute, tags=["chat"], responses=PROBLEM_RESPONSES)

    class Described(JSONResponse):
        """Makes FastAPI describe the data of the events, which `EventStream` sends."""

        media_type = EventStream.media_type

    @routes.post("/chat", response_class=Described, response_model=ChatEvent)
    async def answer_chat(request: ChatRequest) -> EventStream:
        """Answer a question from the documents: `sources`, `delta`s, then `done` or `error`."""
        turns = [turn.turn() for turn in request.messages]
        return EventStream(_encode(chat.answer(turns, request.top_k, request.filters)))

    return routes


async def _encode(answer: AsyncGenerator[ChatEvent, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(answer) as events:
        async for event in events:
            yield format_sse_event(event=event.event, data_str=to_json(event.to_json()).decode())
