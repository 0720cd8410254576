"""Answers a question from what a search finds: by a language model, else by extracts."""

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from ..index.served import current_index
from ..model.client import BudgetSpentError, LanguageModel, ModelError
from ..model.settings import ModelSettings
from ..retrieval.filters import Filters
from ..web.requests import AsyncSearch
from .conversation import ENGLISH, LanguageWords, Turn, is_readable, kind_of, query_of
from .events import (
    AnswerReason,
    ChatEvent,
    Delta,
    Done,
    Failed,
    NumberedPassage,
    QueryOrigin,
    Sources,
    number_passages,
)
from .extract import extract
from .prompt import answer_messages, condense_messages
from .safe_text import CitationFilter, MarkupFilter, disarm

CONDENSE_SECONDS = 4.0
CONDENSE_TOKENS = 128
MAX_CONDENSED_CHARACTERS = 500

NOTHING_FOUND = "Nothing was found in the documents about this."
NOT_MENTIONED = "The documents do not mention {}."
ACKNOWLEDGED = "You are welcome. Ask whatever else you want to know."

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of which the last, a user's, is to be answered.

    `wishes` of the caller concern the form of the answer; `options` are parameters for the model.
    """

    turns: Sequence[Turn]
    top_k: int
    filters: Filters | None = None
    wishes: str = ""
    max_tokens: int | None = None
    options: Mapping[str, float | None] = field(default_factory=dict)


class Chat:
    """Answers questions; all requests of a process share one, in one event loop."""

    def __init__(
        self,
        search: AsyncSearch,
        settings: ModelSettings | None,
        instructions: str,
        language: LanguageWords = ENGLISH,
    ) -> None:
        """Answer from `search`, by the model of `settings` if given, as the owner instructs."""
        self._search = search
        self._instructions = instructions
        self._language = language
        self._model = LanguageModel(settings) if settings else None

    async def answer(self, asked: Conversation) -> AsyncGenerator[ChatEvent, None]:
        """Yield the events of an answer; closing the generator ends the calls made for it.

        Raises InvalidRequestError, before the first event, if the question cannot be searched for.
        """
        if kind_of(asked.turns, current_index(), self._language) == "acknowledgement":
            yield Sources(None, "none", None, None, None, False, None, [], {}, [])
            yield Delta(ACKNOWLEDGED)
            yield Done("extractive", "acknowledgement", None, [], False, None)
            return
        query, query_from, notice = await self._query(asked.turns)
        search = await self._search(query, asked.top_k, filters=asked.filters)
        passages = number_passages(search.hits)
        sources = Sources(
            query=search.query,
            query_from=query_from,
            query_notice=notice,
            mode=search.mode,
            reason=search.reason,
            degraded=search.degraded,
            match=search.match,
            unknown_identifiers=list(search.unknown_identifiers),
            stages=dict(search.stages),
            sources=[passage.source for passage in passages],
        )
        yield sources
        reason: AnswerReason = "no_model"
        why = "no language model is configured"
        if self._model is not None and passages:
            try:
                async with aclosing(self._ask(self._model, asked, sources, passages)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                _logger.warning("the language model %s", error)
                reason = "budget_spent" if isinstance(error, BudgetSpentError) else "model_failed"
                why = f"the language model {error}"
        for event in _extracts(sources, passages, reason, why):
            yield event

    async def _query(self, turns: Sequence[Turn]) -> tuple[str, QueryOrigin, str | None]:
        """Return what to search for, who worded it, and why the model did not if it was asked."""
        text, index, notice = turns[-1].content, current_index(), None
        is_follow_up = kind_of(turns, index, self._language) == "follow_up"
        is_unclear = len(turns) > 1 and not is_readable(text, index, self._language)
        if self._model is not None and (is_follow_up or is_unclear):
            try:
                messages = condense_messages(turns)
                reply = await self._model.complete(messages, CONDENSE_TOKENS, CONDENSE_SECONDS)
                query = " ".join(reply.split())
                if 0 < len(query) <= MAX_CONDENSED_CHARACTERS:
                    return query, "model", None
                notice = "The language model sent no usable query."
            except ModelError as error:
                _logger.warning("the language model did not condense a question: it %s", error)
                notice = f"The language model {error}."
        if is_follow_up:
            return query_of(turns, index, self._language), "conversation", notice
        return text, "question", notice

    async def _ask(
        self,
        model: LanguageModel,
        asked: Conversation,
        sources: Sources,
        passages: list[NumberedPassage],
    ) -> AsyncGenerator[ChatEvent, None]:
        """Yield the answer of the model. Raises ModelError if it fails before its first word."""
        messages = answer_messages(
            asked.turns, passages, self._instructions, asked.wishes, sources.unknown_identifiers
        )
        most = model.settings.max_tokens
        chunks = model.stream(messages, min(asked.max_tokens or most, most), **asked.options)
        citations = CitationFilter(len(passages))
        markup = MarkupFilter(_texts_of(passages))
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
        is_cut = chunk.finish_reason == "length"
        yield Done("model", "default", None, cited, truncated=is_cut, usage=chunk.usage)


def _texts_of(passages: Sequence[NumberedPassage]) -> list[str]:
    """Return the texts whose addresses an answer may repeat."""
    return [text for passage in passages for text in (passage.text, passage.source.url)]


def _extracts(
    sources: Sources, passages: Sequence[NumberedPassage], reason: AnswerReason, why: str
) -> list[ChatEvent]:
    """Return an answer of the passages' own sentences, which says why it is one."""
    extracts: list[tuple[NumberedPassage, str]] = []
    if sources.match != "none":
        extracts = extract(sources.query or "", passages, current_index())
    if sources.unknown_identifiers:
        # Sentences that resemble the question are about something else.
        text = notice = NOT_MENTIONED.format(", ".join(sources.unknown_identifiers))
        reason, extracts = "nothing_found", []
    elif extracts:
        notice = f"Extracted from the documents; {why}."
        known = _texts_of(passages)
        said = [f"{disarm(text, known)} [{passage.source.number}]" for passage, text in extracts]
        text = "\n\n".join([*said, notice])
    elif reason == "no_model":
        reason, text = "nothing_found", NOTHING_FOUND
        notice = "No passage is near enough to the question."
    else:
        # The passages may hold the answer all the same.
        text = notice = f"{why.capitalize()}, and no sentence of the documents answers by itself."
    cited = dict.fromkeys(passage.source.cited() for passage, _ in extracts)
    return [Delta(text), Done("extractive", reason, notice, list(cited), False, None)]
