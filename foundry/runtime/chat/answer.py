"""Answering a question from what a search finds: by a language model, else by extracts."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from starlette.exceptions import HTTPException

from ..index.served import current_index
from ..model.client import LanguageModel, ModelError, Usage
from ..model.settings import ModelSettings, shared_budget
from ..retrieval.filters import Filters
from ..web.runner import AsyncSearch
from .conversation import Kind, Turn, can_be_told, kind_of, query_of
from .events import (
    AnswerReason,
    ChatEvent,
    Delta,
    Done,
    Failed,
    NumberedPassage,
    QueryOrigin,
    SourceOfAnswer,
    Sources,
    number_passages,
)
from .extract import extract
from .prompt import answer_messages, condense_messages
from .safe_text import CitationFilter, MarkupFilter, disarm
from .words import ENGLISH, LanguageWords

WAIT_SECONDS = 1.0
"""For a place among the conversations with the model; then the caller is asked to come back."""

RETRY_AFTER_SECONDS = 5

CONDENSE_SECONDS = 4.0
"""For rewriting a question that follows up; then it is searched for by its conversation."""

CONDENSE_TOKENS = 128
MAX_CONDENSED_CHARACTERS = 500

NOTHING_FOUND = "Nothing was found in the documents about this."
NOT_MENTIONED = "The documents do not mention {}."
ACKNOWLEDGED = "You are welcome. Ask whatever else you want to know."
_WHY_EXTRACTS: dict[AnswerReason, str] = {
    "no_model": "no language model is configured",
    "model_failed": "the language model {}",
    "budget_spent": "the day's calls of the model are used up",
}

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of which the last, a user's, is to be answered.

    `wishes` are what the caller wants beside the question, as to form. None leaves a value to the
    server or the model.
    """

    turns: Sequence[Turn]
    top_k: int
    filters: Filters | None = None
    wishes: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None


class _Found(NamedTuple):
    """What an answer is made from; `spent` is what the model took to rewrite the question."""

    sources: Sources
    passages: list[NumberedPassage]
    spent: Usage | None

    def addressed(self) -> list[str]:
        """Return the texts whose addresses an answer may hold."""
        return [part for passage in self.passages for part in (passage.text, passage.source.url)]


class Chat:
    """Answers questions; one for a process, shared by all requests of its event loop."""

    def __init__(
        self,
        search: AsyncSearch,
        settings: ModelSettings | None,
        instructions: str,
        language: LanguageWords = ENGLISH,
    ) -> None:
        """Answer from `search`, by the model of `settings` if given, as the owner instructs.

        `language` has the words of the documents' language; English is understood beside it.
        """
        self._search = search
        self._instructions = instructions
        self._language = language
        self._model = LanguageModel(settings) if settings else None
        self._budget = shared_budget(settings.daily_calls if settings else None)
        self._places = asyncio.Semaphore(settings.concurrency) if settings else None

    async def answer(self, asked: Conversation) -> AsyncGenerator[ChatEvent, None]:
        """Yield the events of an answer; closing the generator ends the calls made for it.

        Raises, before the first event, InvalidRequestError for a question that cannot be searched
        for, and HTTPException 503 if too many are being answered.
        """
        kind = kind_of(asked.turns, current_index(), self._language)
        if kind == "acknowledgement":
            yield Sources()
            yield Delta(text=ACKNOWLEDGED)
            yield Done(mode="extractive", reason="acknowledgement")
            return
        async with place_among(self._places):
            found = await self._find(asked, kind)
            yield found.sources
            if self._model is None:
                events = _extracts(found, "no_model")
            elif not found.passages:
                events = _extracts(found, "nothing_found")
            elif not self._budget.take_call():
                events = _extracts(found, "budget_spent")
            else:
                async with aclosing(self._ask(self._model, asked, found)) as answered:
                    async for event in answered:
                        yield event
                return
            for event in events:
                yield event

    async def _find(self, asked: Conversation, kind: Kind) -> _Found:
        """Search for the question, or for what a follow-up is about."""
        turns, index = asked.turns, current_index()
        query, notice, spent = turns[-1].content, None, None
        query_from: QueryOrigin = "question"
        is_plain = len(turns) == 1 or can_be_told(query, index, self._language)
        if kind == "follow_up":
            query, query_from = query_of(turns, index, self._language), "conversation"
        if self._model is not None and (kind == "follow_up" or not is_plain):
            condensed, notice, spent = await self._condense(self._model, turns)
            if condensed:
                query, query_from = condensed, "model"
        search = await self._search(query, asked.top_k, filters=asked.filters)
        passages = number_passages(search.hits)
        sources = Sources(
            query=search.query,
            query_from=query_from,
            query_notice=notice,
            mode=search.mode,
            reason=search.reason,
            degraded=search.degraded,
            unknown_identifiers=list(search.unknown_identifiers),
            stages=dict(search.stages),
            sources=[passage.source for passage in passages],
        )
        return _Found(sources, passages, spent)

    async def _condense(
        self, model: LanguageModel, turns: Sequence[Turn]
    ) -> tuple[str | None, str | None, Usage | None]:
        """Return the query as the model writes it, else why it does not; and what it took."""
        if not self._budget.take_call():
            return None, "The day's calls of the model are used up.", None
        try:
            async with asyncio.timeout(CONDENSE_SECONDS):
                reply = await model.complete(condense_messages(turns), CONDENSE_TOKENS)
        except (TimeoutError, ModelError) as error:
            failure = str(error) or "took too long"
            _logger.warning("the language model did not condense a question: it %s", failure)
            return None, f"The language model {failure}.", None
        condensed = " ".join(reply.text.split())
        if 0 < len(condensed) <= MAX_CONDENSED_CHARACTERS:
            return condensed, None, reply.usage
        return None, "The language model sent no usable query.", reply.usage

    async def _ask(
        self, model: LanguageModel, asked: Conversation, found: _Found
    ) -> AsyncGenerator[ChatEvent, None]:
        messages = answer_messages(
            asked.turns,
            found.passages,
            self._instructions,
            asked.wishes,
            found.sources.unknown_identifiers,
        )
        most = model.settings.max_tokens
        chunks = model.stream(
            messages,
            min(asked.max_tokens or most, most),
            temperature=asked.temperature,
            top_p=asked.top_p,
        )
        citations = CitationFilter(len(found.passages))
        markup = MarkupFilter(found.addressed())
        has_begun = False
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    text = markup.feed(citations.feed(chunk.text))
                    if chunk.finish_reason:
                        text += markup.feed(citations.finish()) + markup.finish()
                    if text:
                        has_begun = True
                        yield Delta(text=text)
        except ModelError as error:
            _logger.warning("the language model %s", error)
            if has_begun:
                yield Failed(message=f"The language model {error}.")
                return
            for event in _extracts(found, "model_failed", str(error)):
                yield event
            return
        usages = [usage for usage in (chunk.usage, found.spent) if usage]
        yield Done(
            mode="model",
            reason="default",
            cited=[found.passages[number - 1].source for number in citations.cited],
            truncated=chunk.finish_reason == "length",
            usage=sum(usages[1:], usages[0]) if usages else None,
        )


@asynccontextmanager
async def place_among(places: asyncio.Semaphore | None) -> AsyncIterator[None]:
    """Hold one of the places. Raises HTTPException 503 if none becomes free soon."""
    if places is None:
        yield
        return
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await places.acquire()
    except TimeoutError:
        raise HTTPException(
            503,
            "Too many questions are being answered now.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        ) from None
    try:
        yield
    finally:
        places.release()


def _extracts(found: _Found, reason: AnswerReason, failure: str = "") -> list[ChatEvent]:
    """Return an answer of the passages' own sentences, which says that it is one."""
    why = _WHY_EXTRACTS.get(reason, "").format(failure)
    cited: list[SourceOfAnswer] = []
    if found.sources.unknown_identifiers:
        # Sentences that are near such a question are about something else.
        text = notice = NOT_MENTIONED.format(", ".join(found.sources.unknown_identifiers))
        reason = "nothing_found"
    elif extracts := extract(found.sources.query or "", found.passages, current_index()):
        text = ""
        for passage, sentence in extracts:
            text += f"{disarm(sentence, found.addressed())} [{passage.source.number}]\n\n"
            if passage.source not in cited:
                cited.append(passage.source)
        notice = f"Extracted from the documents; {why}."
        text += notice
    elif reason in ("model_failed", "budget_spent"):
        # The passages may hold the answer all the same.
        why = why[0].upper() + why[1:]
        text = notice = f"{why}, and no sentence of the documents answers by itself."
    else:
        text, reason = NOTHING_FOUND, "nothing_found"
        notice = "No passage is near enough to the question."
    done = Done(mode="extractive", reason=reason, notice=notice, cited=list(cited))
    return [Delta(text=text), done]
