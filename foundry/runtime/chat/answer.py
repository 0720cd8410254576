"""Answering a question from what a search finds: by a language model, else by extracts."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from ..index.served import current_index
from ..model.budget import shared_budget
from ..model.client import LanguageModel, Sampling
from ..model.replies import ModelError, Usage
from ..model.settings import ModelSettings
from ..retrieval.filters import Filters
from ..web.runner import AsyncSearch
from .calls import CallLimits
from .citations import CitationFilter
from .events import AnswerReason, ChatEvent, Delta, Done, Failed, QueryOrigin, Sources
from .extract import extract
from .follow_ups import Kind, can_be_told, kind_of, query_of
from .markup import MarkupFilter, disarm
from .passages import NumberedPassage, number_passages
from .prompt import Turn, answer_messages, condense_messages

CONDENSE_SECONDS = 4.0
"""For rewriting a question that follows up; then it is searched for by its conversation."""

CONDENSE_TOKENS = 128
MAX_CONDENSED_CHARACTERS = 500

NOTHING_FOUND = "Nothing was found in the documents about this."
NOT_MENTIONED = "The documents do not mention {}."
ACKNOWLEDGED = "You are welcome. Ask whatever else you want to know."
_NOTICES: dict[AnswerReason, str] = {
    "no_model": "Extracted from the documents; no language model is configured.",
    "model_failed": "Extracted from the documents; the language model {}.",
    "budget_spent": "Extracted from the documents; the day's calls of the model are used up.",
    "nothing_found": "No passage is near enough to the question.",
}
_SILENT: dict[AnswerReason, str] = {
    "model_failed": "The language model {}, and no sentence of the documents answers by itself.",
    "budget_spent": "The day's calls of the model are used up,"
    " and no sentence of the documents answers by itself.",
}
"""Where nothing can be extracted: the passages may hold the answer all the same."""

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


@dataclass(frozen=True, slots=True)
class _Query:
    """What to search for, where its words come from, and what it took to find out."""

    text: str
    origin: QueryOrigin
    notice: str | None = None
    spent: Usage | None = None

    @classmethod
    def of(cls, turns: Sequence[Turn], kind: Kind) -> "_Query":
        """What needs no model: the last turn, with what it refers to if it follows up."""
        if kind == "follow_up":
            return cls(query_of(turns, current_index()), "conversation")
        return cls(turns[-1].content, "question")


def _stands_alone(turns: Sequence[Turn]) -> bool:
    """Whether a turn that does not read as a follow-up cannot be one."""
    return len(turns) == 1 or can_be_told(turns[-1].content, current_index())


class Chat:
    """Answers questions; one for a process, shared by all requests of its event loop."""

    def __init__(
        self,
        search: AsyncSearch,
        settings: ModelSettings | None,
        instructions: str,
    ) -> None:
        """Answer from `search`, by the model of `settings` if given, as the owner instructs."""
        self._search = search
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
        kind = kind_of(question.turns, current_index())
        if kind == "acknowledgement":
            yield Sources(None, [], "none")
            yield Delta(ACKNOWLEDGED)
            yield Done("extractive", "acknowledgement", None, [])
            return
        query = _Query.of(question.turns, kind)
        if self._model is None or self._calls is None:
            sources = await self._find(question, query)
            yield sources
            for event in _extractive(sources, "no_model"):
                yield event
            return
        async with self._calls.place():
            if kind == "follow_up" or not _stands_alone(question.turns):
                query = await self._condense(self._model, self._calls, question, query)
            sources = await self._find(question, query)
            yield sources
            if not sources.passages:
                events = _extractive(sources, "nothing_found")
            elif not self._calls.take_call():
                events = _extractive(sources, "budget_spent")
            else:
                answer = self._ask(self._model, question, sources, query.spent)
                async with aclosing(answer) as answered:
                    async for event in answered:
                        yield event
                return
            for event in events:
                yield event

    async def _find(self, question: Question, query: "_Query") -> Sources:
        found = await self._search(query.text, question.top_k, filters=question.filters)
        return Sources(found, number_passages(found.hits), query.origin, query.notice)

    async def _condense(
        self, model: LanguageModel, calls: CallLimits, question: Question, query: "_Query"
    ) -> "_Query":
        """The query as the model writes it; where it fails, as it is, with the reason why."""
        if not calls.take_call():
            return replace(query, notice="The day's calls of the model are used up.")
        try:
            async with asyncio.timeout(CONDENSE_SECONDS):
                reply = await model.complete(
                    condense_messages(question.turns), Sampling(CONDENSE_TOKENS)
                )
        except (TimeoutError, ModelError) as error:
            failure = error if isinstance(error, ModelError) else ModelError("took too long")
            _logger.warning("the language model did not condense a question: it %s", failure)
            return replace(query, notice=f"The language model {failure}.")
        condensed = " ".join(reply.text.split())
        if not 0 < len(condensed) <= MAX_CONDENSED_CHARACTERS:
            notice = "The language model sent no usable query."
            return replace(query, notice=notice, spent=reply.usage)
        return _Query(condensed, "model", spent=reply.usage)

    async def _ask(
        self, model: LanguageModel, question: Question, sources: Sources, spent: Usage | None
    ) -> AsyncGenerator[ChatEvent, None]:
        messages = answer_messages(
            question.turns,
            sources.passages,
            self._instructions,
            question.wishes,
            sources.unknown_identifiers,
        )
        most = model.settings.max_tokens
        sampling = Sampling(
            min(question.max_tokens or most, most), question.temperature, question.top_p
        )
        citations = CitationFilter(len(sources.passages))
        markup = MarkupFilter(_addressed(sources))
        has_begun = truncated = False
        try:
            async with aclosing(model.stream(messages, sampling)) as chunks:
                async for chunk in chunks:
                    text = citations.feed(chunk.text)
                    if chunk.finish_reason:
                        text = markup.feed(text + citations.finish()) + markup.finish()
                        truncated = chunk.finish_reason == "length"
                        if chunk.usage:
                            spent = chunk.usage + spent if spent else chunk.usage
                    else:
                        text = markup.feed(text)
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


def _addressed(sources: Sources) -> list[str]:
    """Where the addresses stand that an answer may hold."""
    return [part for passage in sources.passages for part in (passage.text, passage.url)]


def _extractive(sources: Sources, reason: AnswerReason, failure: str = "") -> list[ChatEvent]:
    """An answer of the passages' own sentences, which says that it is one."""
    if sources.unknown_identifiers:
        # Sentences that are near such a question are about something else.
        text = NOT_MENTIONED.format(", ".join(sources.unknown_identifiers))
        return [Delta(text), Done("extractive", "nothing_found", text, [])]
    query = sources.search.query if sources.search else ""
    extracts = extract(query, sources.passages, current_index())
    if not extracts and reason in _SILENT:
        notice = _SILENT[reason].format(failure)
        return [Delta(notice), Done("extractive", reason, notice, [])]
    if not extracts:
        done = Done("extractive", "nothing_found", _NOTICES["nothing_found"], [])
        return [Delta(NOTHING_FOUND), done]
    notice = _NOTICES[reason].format(failure)
    cited: list[NumberedPassage] = []
    text = ""
    for found in extracts:
        text += f"{disarm(found.text, _addressed(sources))} [{found.passage.number}]\n\n"
        if found.passage not in cited:
            cited.append(found.passage)
    return [Delta(f"{text}{notice}"), Done("extractive", reason, notice, cited)]
