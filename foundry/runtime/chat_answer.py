"""Answering a question from what a search finds: by a language model, else by extracts."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from .call_budget import shared_budget
from .chat_calls import CallLimits
from .chat_citations import CitationFilter
from .chat_events import AnswerReason, ChatEvent, Delta, Done, Failed, Sources
from .chat_extract import extract
from .chat_model import LanguageModel, Sampling
from .chat_passages import NumberedPassage, number_passages
from .chat_prompt import Turn, answer_messages, condense_messages
from .chat_reply import ModelError, Usage
from .chat_settings import ModelSettings
from .filters import Filters
from .results import SearchResponse
from .state import current_index
from .web_runner import SearchRunner

CONDENSE_SECONDS = 2.0
CONDENSE_TOKENS = 128
MAX_CONDENSED_CHARACTERS = 500

NOTHING_FOUND = "Nothing was found in the documents about this."
NOT_MENTIONED = "The documents do not mention {}."
_NOTICES: dict[AnswerReason, str] = {
    "no_model": "Extracted from the documents; no language model is configured.",
    "model_failed": "Extracted from the documents; the language model {}.",
    "budget_spent": "Extracted from the documents; the day's calls of the model are used up.",
    "nothing_found": "No passage is near enough to the question.",
}

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A conversation whose last turn, a user's, is to be answered.

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


class Chat:
    """Answers questions; one for a process, shared by all requests of its event loop."""

    def __init__(
        self,
        search: Callable[..., SearchResponse],
        settings: ModelSettings | None,
        instructions: str,
    ) -> None:
        """Answer from `search`, by the model of `settings` if given, as the owner instructs."""
        self._search = search
        self._runner = SearchRunner()
        self._instructions = instructions
        self._model = LanguageModel(settings) if settings else None
        self._calls = (
            CallLimits(settings.concurrency, shared_budget(settings.daily_calls))
            if settings
            else None
        )

    async def answer(self, question: Question) -> AsyncGenerator[ChatEvent, None]:
        """The events of an answer; closing the generator ends the calls made for it.

        Raises, before the first event, InvalidRequestError for a question that cannot be searched
        for, and HTTPException 503 if too many are being answered.
        """
        if self._model is None or self._calls is None:
            sources = await self._find(question, question.turns[-1].content)
            yield sources
            for event in _extractive(sources, "no_model"):
                yield event
            return
        async with self._calls.place():
            query, spent = await self._condense(self._model, self._calls, question)
            sources = await self._find(question, query)
            yield sources
            if not sources.passages:
                events = _extractive(sources, "nothing_found")
            elif not self._calls.take_call():
                events = _extractive(sources, "budget_spent")
            else:
                async with aclosing(self._ask(self._model, question, sources, spent)) as answer:
                    async for event in answer:
                        yield event
                return
            for event in events:
                yield event

    async def _find(self, question: Question, query: str) -> Sources:
        search = partial(self._search, query, question.top_k, filters=question.filters)
        found = await self._runner.run(search)
        return Sources(found, number_passages(found.hits))

    async def _condense(
        self, model: LanguageModel, calls: CallLimits, question: Question
    ) -> tuple[str, Usage | None]:
        """What to search for, and what it took to find out; the question itself if that fails."""
        asked = question.turns[-1].content
        if len(question.turns) == 1 or not calls.take_call():
            return asked, None
        try:
            async with asyncio.timeout(CONDENSE_SECONDS):
                reply = await model.complete(
                    condense_messages(question.turns), Sampling(CONDENSE_TOKENS)
                )
        except (TimeoutError, ModelError) as error:
            _logger.warning("the language model did not condense a question: %r", error)
            return asked, None
        condensed = " ".join(reply.text.split())
        is_usable = 0 < len(condensed) <= MAX_CONDENSED_CHARACTERS
        return condensed if is_usable else asked, reply.usage

    async def _ask(
        self, model: LanguageModel, question: Question, sources: Sources, spent: Usage | None
    ) -> AsyncGenerator[ChatEvent, None]:
        messages = answer_messages(
            question.turns,
            sources.passages,
            self._instructions,
            question.wishes,
            sources.search.unknown_identifiers,
        )
        most = model.settings.max_tokens
        sampling = Sampling(
            min(question.max_tokens or most, most), question.temperature, question.top_p
        )
        citations = CitationFilter(len(sources.passages))
        has_begun = truncated = False
        try:
            async with aclosing(model.stream(messages, sampling)) as chunks:
                async for chunk in chunks:
                    text = citations.feed(chunk.text)
                    if chunk.finish_reason:
                        text += citations.finish()
                        truncated = chunk.finish_reason == "length"
                        if chunk.usage:
                            spent = chunk.usage + spent if spent else chunk.usage
                    if text:
                        has_begun = True
                        yield Delta(text)
        except ModelError as error:
            _logger.warning("the language model %s", error)
            if has_begun:
                yield Failed(f"The language model {error}.")
                return
            for event in _extractive(sources, "model_failed", str(error)):
                yield event
            return
        cited = [sources.passages[number - 1] for number in citations.cited]
        yield Done("model", "default", None, cited, truncated, spent)


def _extractive(sources: Sources, reason: AnswerReason, failure: str = "") -> list[ChatEvent]:
    """An answer of the passages' own sentences, which says that it is one."""
    unknown = sources.search.unknown_identifiers
    if unknown:
        # Sentences that are near such a question are about something else.
        text = NOT_MENTIONED.format(", ".join(unknown))
        return [Delta(text), Done("extractive", "nothing_found", text, [])]
    extracts = extract(sources.search.query, sources.passages, current_index())
    if not extracts:
        done = Done("extractive", "nothing_found", _NOTICES["nothing_found"], [])
        return [Delta(NOTHING_FOUND), done]
    notice = _NOTICES[reason].format(failure)
    cited: list[NumberedPassage] = []
    text = ""
    for found in extracts:
        text += f"{found.text} [{found.passage.number}]\n\n"
        if found.passage not in cited:
            cited.append(found.passage)
    return [Delta(f"{text}{notice}"), Done("extractive", reason, notice, cited)]
