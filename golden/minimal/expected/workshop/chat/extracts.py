"""Answers questions with sentences of the passages that a search finds.

A sentence is worth the share of the question's terms that it holds, weighted by their rarity in the
index, times how well its passage ranked. Words of grammar ("does it get") count only in a question
that has no others. It is quoted only if it and its neighbours, with the headings above them, hold
half of the question by that weight (1 and 27 % of two collections' questions whose documents were
taken out, 83 and 76 % of others); else passages are only named.
"""

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial

from ..index.reader import Index, current_index
from ..retrieval.results import HEDGES, notices_of, term_weights
from ..web.requests import AsyncSearch
from .answer import ChatEvent, Delta, Done, NumberedPassage, QueryOrigin, Sources, find_passages
from .conversation import ENGLISH, Conversation, LanguageWords, heading_of, kind_of, query_of
from .text import part_marks, sentences

MAX_SENTENCES, MIN_SHARE_OF_BEST = 4, 0.45
MAX_POINTERS, MIN_SHARE_TOGETHER = 3, 0.5
# Terms in the headings count less; most passages begin by saying what they are about.
HEADING_SHARE, OPENING_WORTH = 0.3, 0.1

_done = partial(Done, "extractive", truncated=False, usage=None)


@dataclass(frozen=True, slots=True)
class Chat:
    """Answers by extracts; `language` is that of the documents."""

    search: AsyncSearch
    language: LanguageWords = ENGLISH

    async def answer(self, asked: Conversation) -> AsyncGenerator[ChatEvent, None]:
        """Yield the events of an answer. May first raise InvalidRequestError."""
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
            yield Delta("You are welcome. Ask whatever else you want to know.")
            yield _done("acknowledgement", notice=None, cited=[])
            return
        is_follow_up = kind == "follow_up"
        query = query_of(asked.turns, index, self.language) if is_follow_up else asked.question
        query_from: QueryOrigin = "conversation" if is_follow_up else "question"
        sources, passages = await find_passages(self.search, asked, query, query_from)
        yield sources
        text, done = extract_answer(sources, passages, language=self.language)
        yield Delta("\n\n".join([*notices_of(sources.stages), text]))
        yield done


def extract_answer(
    sources: Sources,
    passages: Sequence[NumberedPassage],
    failure: str = "",  # Why no model has written it, if one was asked.
    language: LanguageWords = ENGLISH,
) -> tuple[str, Done]:
    """Return an answer made of the passages' own sentences, or one that only names passages."""
    if sources.unknown_identifiers:
        # Sentences that resemble a question about what is unknown are about something else.
        text = f"The documents do not mention {', '.join(sources.unknown_identifiers)}."
        return text, _done("nothing_found", notice=text, cited=[])
    if sources.match == "none" or not passages:
        notice = "No passage is near enough to the question."
        done = _done("nothing_found", notice=notice, cited=[])
        return "Nothing was found in the documents about this.", done
    hedge = f"{HEDGES['weak']}; the nearest" if sources.match == "weak" else "The nearest"
    if extracts := extract(sources.query or "", passages, current_index(), language.empty):
        said = [f"{part_marks(text)} [{passage.source.number}]" for passage, text in extracts]
        said = [f"{hedge} sentences are:", *said] if sources.match == "weak" else said
        shown = [passage for passage, _ in extracts]
        notice = "Extracted from the documents."
    else:
        shown = [*passages[:MAX_POINTERS]]
        named = (f"- {part_marks(heading_of(one.hit))} [{one.source.number}]" for one in shown)
        said = [f"{hedge} passages are:", "\n".join(named)]
        notice = "No sentence of the documents answers by itself."
    if failure:
        notice = f"{notice.removesuffix('.')}; {failure}."
    cited = list(dict.fromkeys(passage.source.cited() for passage in shown))
    return "\n\n".join([*said, notice]), _done("no_model", notice=notice, cited=cited)


def extract(
    question: str,
    passages: Sequence[NumberedPassage],
    index: Index,
    empty: frozenset[str] = ENGLISH.empty,
) -> list[tuple[NumberedPassage, str]]:
    """Return the best sentences that each say something new, in the order of the passages."""

    def terms_of(text: str) -> set[str]:
        return set(index.tokenizer.terms(text))

    without = empty.intersection(re.findall(r"\w+", question.lower()))
    asked = terms_of(question)
    weights = term_weights(index, asked - terms_of(" ".join(without)) or asked)

    def coverage(terms: set[str]) -> float:
        held = sum(weight for term, weight in weights.items() if term in terms)
        return held / (sum(weights.values()) or 1.0)

    found: dict[str, tuple[float, NumberedPassage, set[str]]] = {}
    best_score = max((passage.hit.score for passage in passages), default=0.0) or 1.0
    for passage in passages:
        heading = terms_of(heading_of(passage.hit))
        rank = (passage.hit.score / best_score) ** 2
        texts = [*sentences(passage.text)]
        held = [*map(terms_of, texts)]
        for place, (text, terms) in enumerate(zip(texts, held, strict=True)):
            around = heading.union(*held[max(0, place - 1) : place + 2])
            if weights and coverage(around) < MIN_SHARE_TOGETHER:
                continue
            own, whole = coverage(terms), coverage(terms | heading)
            worth = own + HEADING_SHARE * (whole - own) + OPENING_WORTH / (place + 1)
            found.setdefault(text, (rank * worth, passage, terms))
    chosen: set[str] = set()
    said: set[str] = set()
    least = MIN_SHARE_OF_BEST * max((worth for worth, _, _ in found.values()), default=0.0)
    for text, (worth, _, terms) in sorted(found.items(), key=lambda item: -item[1][0]):
        if worth >= least and len(chosen) < MAX_SENTENCES and not terms <= said:
            chosen.add(text)
            said |= terms
    return [(passage, text) for text, (_, passage, _) in found.items() if text in chosen]
