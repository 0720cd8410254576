"""Answers questions with sentences from the passages that a search finds.

A sentence scores the share of the question's terms that it contains, weighted by rarity in the
index, times the square of its passage's score relative to the best. Function words ("does it
get") count only in a question without other words.

A sentence is quoted only if it, its neighbours and their headings contain half of the question by
weight, or a third in the first passage of a strong match. Otherwise passages are only listed. In
two collections, 83 and 76 % of the questions passed this test, but only 1 and 27 % after the
documents that answer them were removed.

An answer without a caution needs a strong match, and one sentence that contains most of the
question and the kind of thing that it asks for.
"""

import re
from asyncio import to_thread
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from ..index.documents import join_chunks
from ..index.reader import Index, current_index
from ..retrieval.markup import is_code_file
from ..retrieval.match import term_weights
from ..retrieval.opposites import is_opposed
from ..retrieval.results import HEDGES, notices_of, searched_query
from ..web.requests import AsyncSearch
from .answer import ChatEvent, Delta, Done, NumberedPassage, QueryOrigin, Sources, search_passages
from .conversation import ENGLISH, Conversation, LanguageWords, heading_of, kind_of, query_of
from .quoting.announcing import ends_with_colon
from .quoting.asked import (
    asks_for_date,
    find_dated,
    find_lacking,
    is_message,
    read_requirements,
    says_opposite,
)
from .quoting.lines import fence_code
from .quoting.quotes import Quote, quote_units
from .quoting.units import Unit, read_units
from .text import keep_plain

MAX_SENTENCES, MIN_SHARE_OF_BEST = 4, 0.45
MAX_POINTERS, MIN_SHARE_TOGETHER = 3, 0.5
MIN_SHARE_IN_FIRST = 0.35  # Like MIN_SHARE_TOGETHER, in the first passage of a strong match
# Terms in headings count less; most passages begin by stating their topic.
HEADING_SHARE, OPENING_WORTH = 0.3, 0.1
ANSWER_SHARE = 0.8  # Like HEADING_SHARE, for text below the user's own question
MIN_SHARE_OF_ANSWER = 0.75  # Like MIN_SHARE_OF_BEST, if the best sentence follows a question
MIN_SHARE_ASKED = 0.7  # Share of terms at which a question in a document counts as the same
KIND_WORTH = 1.3  # Factor for a sentence with a number where the question asks how many
OPPOSITE_WORTH = 0.4  # Factor for a sentence that says "on" where the question says "off"
# Share of the question in one sentence and its headings; with less, it may answer another question
MIN_ANSWERED = 0.6
MIN_ALIKE = 0.6  # Minimum share of terms that contradicting sentences must have in common

_REQUEST = re.compile(
    r"\W*(?:(?:can|could|would) you|describe|explain|give|list|make|please|show|summari[sz]e"
    r"|tell)\b"
)
# A word such as "table" that is the subject here: "create a table", but not "a table of all pumps"
_THING = re.compile(r"\b(?:an?|between|each|every|my|the) (\w+)\b(?! (?:about|for|of|to)\b)")
# "What is the difference between A and B?" is answered by what the documents say about A and B.
_COMPARISON = re.compile(
    r"\W*(?:(?:what|was|cu[a\u00e1]l|quelle)\W+(?:\w+\W+){1,4})?"
    r"(differences?|unterschiede?|diferencias?|diff[e\u00e9]rences?)"
    r" (?:between|from|zwischen|entre)\b"
    r"|\W*how\b.*\b(differ|differs|different)\b"
)

# An answer has a time or an amount instead of the adjective.
_DEGREE = re.compile(r"\bhow (long|far|often|old|soon|big|large|fast|quickly)\b")

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
    extracts, share = extract(
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


@dataclass(frozen=True, slots=True)
class _Found:
    """A unit that may be quoted, with its score, and the terms of its quotation."""

    worth: float
    passage: NumberedPassage
    unit: Unit
    terms: frozenset[str]
    share: float  # Share of the question that is covered, including headings and quoted context


def extract(
    question: str,
    passages: Sequence[NumberedPassage],
    index: Index,
    empty: frozenset[str] = ENGLISH.empty,
    *,
    is_strong: bool = False,  # Whether the match is strong
) -> tuple[list[tuple[NumberedPassage, Quote]], float]:
    """Return quotations of the best sentences that each add something new, in text order.

    Also returns the largest share of the question, weighted by rarity, that one of them covers.
    """

    @cache  # Items of a list share their lead-in, and units of a section share its headings.
    def terms_of(text: str) -> frozenset[str]:
        return frozenset(index.tokenizer.terms(text))

    lowered = question.lower()
    without = empty.intersection(re.findall(r"\w+", lowered))
    if not _REQUEST.match(lowered):
        without = without.difference(_THING.findall(lowered))
    if compared := _COMPARISON.match(lowered):
        without |= {*filter(None, compared.groups())}
    without |= {*_DEGREE.findall(lowered)}
    asked = frozenset(_terms_asked(question, index)) or terms_of(question)
    weights = term_weights(index, asked - terms_of(" ".join(without)) or asked)

    def coverage(terms: frozenset[str]) -> float:
        held = sum(weight for term, weight in weights.items() if term in terms)
        return held / (sum(weights.values()) or 1.0)

    requirements = read_requirements(question)
    asks_when = asks_for_date(question)
    best_score = max((passage.hit.score for passage in passages), default=0.0) or 1.0
    read: list[tuple[NumberedPassage, list[Unit], str]] = []
    found: dict[str, _Found] = {}
    for passage in passages:
        heading = terms_of(heading_of(passage.hit))
        rank = (passage.hit.score / best_score) ** 2
        units, own_units = _units_of(passage, index)
        dated = find_dated(reversed([*passage.hit.headings()])) if asks_when else ""
        read.append((passage, units, dated))
        said = [terms_of(unit.words) for unit in units]
        whole = [held | terms_of(unit.code_text) for held, unit in zip(said, units, strict=True)]
        quotable = [place for place in range(own_units) if units[place].is_quotable]
        for count, place in enumerate(quotable, start=1):
            unit, own = units[place], coverage(said[place])
            above = heading | terms_of(f"{unit.above} {unit.tab} {unit.question}")
            around = above.union(*whole[max(0, place - 1) : place + 2])
            is_first = is_strong and passage is passages[0]
            if weights and coverage(around) < (
                MIN_SHARE_IN_FIRST if is_first else MIN_SHARE_TOGETHER
            ):
                continue
            # A list as a whole may give an answer that none of its items gives alone.
            if unit.stem and own <= coverage(terms_of(unit.stem.words)):
                continue
            is_asked = unit.is_answer and coverage(terms_of(unit.question)) >= MIN_SHARE_ASKED
            is_asked |= not unit.text and coverage(above) >= MIN_SHARE_ASKED
            share = ANSWER_SHARE if is_asked else HEADING_SHARE
            together = coverage(whole[place] | above)
            worth = own + share * (together - own) + OPENING_WORTH / count
            worth *= rank * (OPPOSITE_WORTH if says_opposite(question, unit.words) else 1.0)
            if requirements and not find_lacking(requirements, unit.words, dated):
                worth *= KIND_WORTH
            # "No." has no terms but those of its question.
            held = whole[place] | (terms_of(unit.question) if unit.is_answer else frozenset())
            found.setdefault(
                unit.words or unit.code_text, _Found(worth, passage, unit, held, together)
            )
    chosen = _choose([*found.values()])
    extracts = []
    for passage, units, dated in read:
        picked = [one.unit for one in chosen if one.passage is passage]
        for quote in quote_units(units, picked, lambda text: coverage(terms_of(text))):
            label = " > ".join(dict.fromkeys(filter(None, [dated, quote.label])))
            extracts.append((passage, replace(quote, label=label)))
            dated = ""
    return extracts, max((one.share for one in chosen), default=0.0)


def _units_of(passage: NumberedPassage, index: Index) -> tuple[list[Unit], int]:
    """Return the units of a passage, then those of the text that it announces.

    Also returns how many belong to the passage itself.
    """
    hit, text = passage.hit, passage.text
    if is_code_file(hit.path):
        text = fence_code(text, hit.path.rpartition(".")[2].lower())
    above = (hit.section or [""])[-1]
    units = read_units(text, above)
    if not units or hit.passage or not ends_with_colon(units[-1].text):
        return units, len(units)
    # A chunk may end before the command or the list that its last sentence announces.
    following = index.chunk_after(hit)
    text = "".join(join_chunks([hit, following])) if following else text
    return read_units(text, above), len(units)


def _terms_asked(question: str, index: Index) -> Iterator[str]:
    """Yield the terms of a question, without `isn't` and signs; compounds in no chunk are split."""
    for token in index.tokenizer.tokenize(question):
        if token.text[-2:].lower() == "'t" or token.is_sign:
            continue
        is_indexed = not token.spellings or index.keyword_lane.frequency(token.terms[0])
        yield from token.terms if is_indexed else token.spelt(as_one=False)


def _choose(found: Sequence[_Found]) -> list[_Found]:
    """Return the best units that each add something new, or contradict the chosen ones."""
    ranked = sorted(found, key=lambda one: -one.worth)
    chosen: list[_Found] = []
    said: set[str] = set()
    # If a sentence answers exactly this question, few others are needed.
    share = MIN_SHARE_OF_ANSWER if ranked and ranked[0].unit.is_answer else MIN_SHARE_OF_BEST
    least = share * max((one.worth for one in found), default=0.0)
    for one in ranked:
        if one.worth < least or len(chosen) == MAX_SENTENCES:
            break
        if not one.terms <= said or any(_contradict(one, other) for other in chosen):
            chosen.append(one)
            said |= one.terms
    return chosen


def _contradict(one: _Found, other: _Found) -> bool:
    shared = len(one.terms & other.terms)
    is_alike = shared >= MIN_ALIKE * len(one.terms | other.terms)
    return is_alike and is_opposed(one.unit.words, other.unit.words)
