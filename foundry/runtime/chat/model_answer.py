"""Answers questions with a language model, or with extracts if it fails."""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, zip_longest
from typing import Any

from ..index.reader import Index, current_index
from ..model.replies import BudgetSpentError, ModelChunk, ModelError
from ..retrieval.results import HEDGES, Hit, Match, SearchResponse, notices_of
from ..web.requests import AsyncSearch
from .answer import (
    AnswerReason,
    ChatEvent,
    Delta,
    Done,
    Failed,
    NumberedPassage,
    QueryOrigin,
    Sources,
    search_passages,
)
from .conversation import ENGLISH, Conversation, LanguageWords, kind_of, query_of
from .extracts import Chat, extract_answer
from .guarded_model import GuardedModel, ModelStalledError
from .model_text import CitationFilter, MarkupFilter
from .prompt import answer_messages, condense_messages
from .support import CheckedDone, UnsupportedSentence, find_unsupported

# The tokens leave room for models that reason first.
CONDENSE_SECONDS, CONDENSE_TOKENS, MAX_CONDENSED_CHARACTERS = 4.0, 1024, 500

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelChat:
    """Answers with a model, following the owner's instructions; without a model, like `Chat`."""

    search: AsyncSearch
    model: GuardedModel | None
    instructions: str
    language: LanguageWords = ENGLISH

    async def answer(self, asked: Conversation) -> AsyncGenerator[ChatEvent, None]:
        """Yield the events of an answer. May raise InvalidRequestError before the first."""
        kind, model = kind_of(asked.turns, current_index(), self.language), self.model
        if model is None or kind == "acknowledgement":
            async with aclosing(Chat(self.search, self.language).answer(asked)) as events:
                async for event in events:
                    yield event
            return
        usage: Counter[str] = Counter()
        query, origin, notice, own = await self._query(model, asked, usage)
        search = self.search if own is None else partial(search_both, self.search, own)
        sources, passages = await search_passages(search, asked, query, origin, notice)
        sources = replace(sources, also_searched=own)
        yield sources
        for told in notices_of(sources.stages):
            yield Delta(f"{told}\n\n")
        failure = None
        if passages:
            hedge = HEDGES.get(sources.match) if sources.match else None
            messages = answer_messages(
                asked,
                passages,
                self.instructions,
                sources.unknown_identifiers,
                is_hedged=hedge is not None,
            )
            most = model.settings.max_tokens
            chunks = model.stream(messages, min(asked.max_tokens or most, most), **asked.options)
            said = "\n".join(turn.content for turn in asked.turns if turn.role == "user")
            check = partial(find_unsupported, passages=passages, asked=said, index=current_index())
            try:
                async with aclosing(_checked(chunks, passages, usage, hedge, check)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                _logger.warning("the language model %s", error)
                failure = error
        text, done = await asyncio.to_thread(
            _without_model, sources, passages, failure, self.language
        )
        yield Delta(text)
        yield replace(done, usage=dict(usage) or None)

    async def _query(
        self, model: GuardedModel, asked: Conversation, usage: Counter[str]
    ) -> tuple[str, QueryOrigin, str | None, str | None]:
        """Return the query, its origin, a notice, and the user's own query.

        The notice says why the model wrote no query. The own query is None unless it wrote one.
        """
        turns, index, notice = asked.turns, current_index(), None
        is_follow_up = kind_of(turns, index, self.language) == "follow_up"
        own = query_of(turns, index, self.language) if is_follow_up else asked.question
        is_unclear = len(turns) > 1 and not is_readable(asked.question, index, self.language)
        if is_follow_up or is_unclear:
            try:
                messages = condense_messages(turns)
                reply = await model.complete(messages, CONDENSE_TOKENS, CONDENSE_SECONDS)
                usage.update(reply.usage or {})
                query = " ".join(reply.text.split())
                if 0 < len(query) <= MAX_CONDENSED_CHARACTERS:
                    return query, "model", None, own
                notice = "The language model sent no usable query."
            except ModelError as error:
                _logger.warning("the language model did not condense a question: it %s", error)
                notice = f"The language model {error}."
        return own, "conversation" if is_follow_up else "question", notice, None


async def search_both(
    search: AsyncSearch, own: str, query: str, top_k: int, **options: Any
) -> SearchResponse:
    """Interleave the results for the model's query and the user's `own`, better match first.

    Unknown identifiers are only those that the user named, since a model may invent some.
    """
    worded, found = [await search(text, top_k, **options) for text in (query, own)]
    order: list[Match] = ["strong", "weak", "none"]
    first, second = sorted((worded, found), key=lambda response: order.index(response.match))
    hits: dict[str, Hit] = {}
    for hit in filter(None, chain.from_iterable(zip_longest(first.hits, second.hits))):
        hits.setdefault(hit.id, hit)
    return replace(
        worded,
        match=first.match,
        unknown_identifiers=found.unknown_identifiers,
        hits=tuple(islice(hits.values(), top_k)),
    )


def is_readable(text: str, index: Index, language: LanguageWords) -> bool:
    """Return whether `kind_of` has word lists for the language of a message."""
    other_script = re.search(r"[^\W\d_A-Za-z\u00c0-\u024f]", text)
    return index.tokenizer.language == language.language and not other_script


async def _checked(
    chunks: AsyncGenerator[ModelChunk, None],
    passages: Sequence[NumberedPassage],
    usage: Counter[str],
    hedge: str | None,
    check: Callable[[str], list[UnsupportedSentence]],
) -> AsyncGenerator[ChatEvent, None]:
    """Yield a model's answer, made safe; the last event is `Done`, or `Failed` if it breaks off.

    Raises ModelError if the model fails before its first word.
    """
    citations = CitationFilter(len(passages))
    markup = MarkupFilter(f"{passage.text}\n{passage.source.url}" for passage in passages)
    answer = ""
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                text = markup.feed(citations.feed(chunk.text))
                if chunk.finish_reason:
                    text += markup.feed(citations.finish()) + markup.finish()
                if text:
                    answer += text
                    yield Delta(text)
    except ModelError as error:
        if not answer:
            raise
        _logger.warning("the language model %s", error)
        yield Failed(f"The language model {error}.")
        return
    usage.update(chunk.usage or {})
    # This runs in a thread, because it takes as long as several searches.
    unsupported = await asyncio.to_thread(check, answer)
    count = "a sentence" if len(unsupported) == 1 else f"{len(unsupported)} sentences"
    doubt = f"The passages do not support {count} of this answer" if unsupported else None
    is_filtered = chunk.finish_reason == "filter"
    end = "The language model's service cut off this answer" if is_filtered else None
    yield CheckedDone(
        mode="model",
        reason="default",
        notice=" ".join(f"{told}." for told in (hedge, end, doubt) if told) or None,
        cited=[passages[number - 1].source.cited() for number in citations.cited],
        truncated=chunk.finish_reason != "stop",
        usage=dict(usage) or None,
        unsupported=unsupported,
    )


def _without_model(
    sources: Sources,
    passages: Sequence[NumberedPassage],
    failure: ModelError | None,
    language: LanguageWords,
) -> tuple[str, Done]:
    """Return an answer made of extracts, which reports how the model failed."""
    if failure is None or sources.unknown_identifiers:
        return extract_answer(sources, passages, language=language)
    text, done = extract_answer(sources, passages, f"the language model {failure}", language)
    if not done.cited:
        text = f"Nothing was found in the documents about this; the language model {failure}."
        done = replace(done, notice=text)
    return text, replace(done, reason=_reason_of(failure))


def _reason_of(failure: ModelError) -> AnswerReason:
    match failure:
        case BudgetSpentError():
            return "budget_spent"
        case ModelStalledError():
            return "model_stalled"
    return "model_failed"
