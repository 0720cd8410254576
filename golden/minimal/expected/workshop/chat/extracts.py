"""Answers questions with sentences from the passages that a search finds.

An answer without a caution needs a strong match, and one sentence that contains most of the
question and the kind of thing that it asks for. If no sentence is quoted, passages are listed.
"""

import re
from asyncio import to_thread
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial

from ..index.reader import current_index
from ..retrieval.results import HEDGES, notices_of, searched_query
from ..web.requests import AsyncSearch
from .answer import ChatEvent, Delta, Done, NumberedPassage, QueryOrigin, Sources, search_passages
from .conversation import ENGLISH, Conversation, LanguageWords, heading_of, kind_of, query_of
from .quoting.asked import find_lacking, is_message, read_requirements
from .quoting.selection import select_quotes
from .text import keep_plain

MAX_POINTERS = 3
# Share of the question in one sentence and its headings; with less, it may answer another question
MIN_ANSWERED = 0.6

_done = partial(Done, "extractive", truncated=False, usage=None)


@dataclass(frozen=True, slots=True)
class Chat:
    """Answers with extracts; `language` is the documents' language."""

    search: AsyncSearch
    language: LanguageWords = ENGLISH

    async def answer(self, asked: Conversation) -> AsyncGenerator[ChatEvent, None]:
        """Yield the events of an answer. May raise InvalidRequestError before the first."""
        index = current_index()
        kind = kind_of(asked.turns, index, self.language)
        if kind == "acknowledgement":
            yield Sources(
                query=None,
                query_from="none",
                query_notice=None,
                mode=None,
                reason=None,
                degraded=False,
                match=None,
                unknown_identifiers=[],
                stages={},
                sources=[],
            )
            yield Delta("You are welcome. Feel free to ask another question.")
            yield _done("acknowledgement", notice=None, cited=[])
            return
        is_follow_up = kind == "follow_up"
        query = query_of(asked.turns, index, self.language) if is_follow_up else asked.question
        query_from: QueryOrigin = "conversation" if is_follow_up else "question"
        sources, passages = await search_passages(self.search, asked, query, query_from)
        yield sources
        # This runs in a thread, because it takes as long as several searches.
        text, done = await to_thread(extract_answer, sources, passages, language=self.language)
        yield Delta("\n\n".join([*notices_of(sources.stages), text]))
        yield done


def extract_answer(
    sources: Sources,
    passages: Sequence[NumberedPassage],
    failure: str = "",  # Why the answer was not written by the model, if one was called
    language: LanguageWords = ENGLISH,
) -> tuple[str, Done]:
    """Return an answer that quotes the passages, or only lists them, and its last event."""
    # Passages have the corrected words, not those that the user typed.
    question = searched_query(sources.query or "", sources.stages)
    unknown = sources.unknown_identifiers
    denial = f"The documents do not mention {', '.join(unknown)}." if unknown else ""
    # Sentences that resemble a question about an unknown identifier are off topic. But a pasted
    # error message contains names of the user's own files and packages.
    if denial and (sources.match == "none" or not is_message(question)):
        return denial, _done("nothing_found", notice=denial, cited=[])
    if sources.match == "none" or not passages:
        notice = "No passage is close enough to the question."
        done = _done("nothing_found", notice=notice, cited=[])
        return "Nothing was found in the documents about this.", done
    known = question
    for name in unknown:
        known = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", known)
    extracts, share = select_quotes(
        known, passages, current_index(), language.empty, is_strong=sources.match == "strong"
    )
    if denial and not extracts:
        return denial, _done("nothing_found", notice=denial, cited=[])
    is_doubtful = denial or sources.match == "weak" or (extracts and share < MIN_ANSWERED)
    hedge = f"{HEDGES['weak']}; the closest" if is_doubtful else "The closest"
    if extracts:
        said = [quote.cite(f"[{passage.source.number}]") for passage, quote in extracts]
        shown = [passage for passage, _ in extracts]
        text = "\n".join([*said, *(quote.above for _, quote in extracts)])
        headings = "\n".join(heading_of(passage.hit) for passage in shown)
        lacking = find_lacking(read_requirements(question), text, headings)
        if is_doubtful or lacking:
            are = f"are these, and none says {lacking}" if lacking else "are"
            said[:0] = [*filter(None, [denial]), f"{hedge} sentences {are}:"]
        without = f"; none of the sentences says {lacking}" if lacking else ""
        notice = f"Extracted from the documents{without}."
    else:
        shown = [*passages[:MAX_POINTERS]]
        named = (f"- {keep_plain(heading_of(one.hit))} [{one.source.number}]" for one in shown)
        said = [f"{hedge} passages are:", "\n".join(named)]
        notice = "No sentence of the documents answers by itself."
    if failure:
        notice = f"{notice.removesuffix('.')}; {failure}."
    cited = list(dict.fromkeys(passage.source.cited() for passage in shown))
    return "\n\n".join([*said, notice]), _done("no_model", notice=notice, cited=cited)
