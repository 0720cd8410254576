"""Selects the sentences of passages that answer a question.

A sentence scores the share of the question's terms that it contains, weighted by rarity in the
index, times the square of its passage's score relative to the best. Function words ("does it
get") count only in a question without other words.

A sentence is quoted only if it, its neighbours and their headings contain half of the question by
weight, or a third in the first passage of a strong match. In two collections, 83 and 76 % of the
questions passed this test, but only 1 and 27 % after the documents that answer them were removed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...index.documents import join_chunks
from ...index.reader import Index
from ...retrieval.markup import is_code_file
from ...retrieval.match import term_weights
from ...retrieval.opposites import is_opposed
from ..answer import NumberedPassage
from ..conversation import ENGLISH, heading_of
from .announcing import ends_with_colon
from .asked import asks_for_date, find_dated, find_lacking, read_requirements, says_opposite
from .lines import fence_code
from .quotes import Quote, quote_units
from .unit import Unit
from .units import read_units

MAX_SENTENCES, MIN_SHARE_OF_BEST, MIN_SHARE_TOGETHER = 4, 0.45, 0.5
MIN_SHARE_IN_FIRST = 0.35  # Like MIN_SHARE_TOGETHER, in the first passage of a strong match
# Terms in headings count less; most passages begin by stating their topic.
HEADING_SHARE, OPENING_WORTH = 0.3, 0.1
ANSWER_SHARE = 0.8  # Like HEADING_SHARE, for text below the user's own question
MIN_SHARE_OF_ANSWER = 0.75  # Like MIN_SHARE_OF_BEST, if the best sentence follows a question
MIN_SHARE_ASKED = 0.7  # Share of terms at which a question in a document counts as the same
KIND_WORTH = 1.3  # Factor for a sentence with a number where the question asks how many
OPPOSITE_WORTH = 0.4  # Factor for a sentence that says "on" where the question says "off"
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


@dataclass(frozen=True, slots=True)
class _Found:
    """A unit that may be quoted, with its score, and the terms of its quotation."""

    worth: float
    passage: NumberedPassage
    unit: Unit
    terms: frozenset[str]
    share: float  # Share of the question that is covered, including headings and quoted context


class _Question:
    """A question, compared with texts by its terms, which are weighted by rarity in the index."""

    def __init__(self, question: str, index: Index, empty: frozenset[str]) -> None:
        self._text, self._index = question, index
        # Items of a list share their lead-in, and units of a section share its headings.
        self._terms: dict[str, frozenset[str]] = {}
        lowered = question.lower()
        without = empty.intersection(re.findall(r"\w+", lowered))
        if not _REQUEST.match(lowered):
            without = without.difference(_THING.findall(lowered))
        if compared := _COMPARISON.match(lowered):
            without |= {*filter(None, compared.groups())}
        without |= {*_DEGREE.findall(lowered)}
        asked = frozenset(_terms_asked(question, index)) or self.terms_of(question)
        self._weights = term_weights(index, asked - self.terms_of(" ".join(without)) or asked)
        self._requirements = read_requirements(question)

    def terms_of(self, text: str) -> frozenset[str]:
        """Return the terms of a text."""
        if text not in self._terms:
            self._terms[text] = frozenset(self._index.tokenizer.terms(text))
        return self._terms[text]

    def coverage(self, terms: frozenset[str]) -> float:
        """Return the share of the question that is among the terms."""
        held = sum(weight for term, weight in self._weights.items() if term in terms)
        return held / (sum(self._weights.values()) or 1.0)

    def coverage_of(self, text: str) -> float:
        """Return the share of the question that a text contains."""
        return self.coverage(self.terms_of(text))

    def judge(
        self, passage: NumberedPassage, units: Sequence[Unit], count: int, least: float, dated: str
    ) -> Iterator[_Found]:
        """Yield those of a passage's first `count` units that may be quoted.

        With their neighbours, they contain a share of at least `least`. `dated` is the heading that
        dates the passage.
        """
        heading = self.terms_of(heading_of(passage.hit))
        said = [self.terms_of(unit.words) for unit in units]
        whole = [
            held | self.terms_of(unit.code_text) for held, unit in zip(said, units, strict=True)
        ]
        quotable = [place for place in range(count) if units[place].is_quotable]
        for number, place in enumerate(quotable, start=1):
            unit, own = units[place], self.coverage(said[place])
            above = heading | self.terms_of(f"{unit.above} {unit.tab} {unit.question}")
            around = above.union(*whole[max(0, place - 1) : place + 2])
            if self._weights and self.coverage(around) < least:
                continue
            # A list as a whole may give an answer that none of its items gives alone.
            if unit.stem and own <= self.coverage_of(unit.stem.words):
                continue
            is_asked = unit.is_answer and self.coverage_of(unit.question) >= MIN_SHARE_ASKED
            is_asked |= not unit.text and self.coverage(above) >= MIN_SHARE_ASKED
            share = ANSWER_SHARE if is_asked else HEADING_SHARE
            together = self.coverage(whole[place] | above)
            worth = own + share * (together - own) + OPENING_WORTH / number
            if says_opposite(self._text, unit.words):
                worth *= OPPOSITE_WORTH
            if self._requirements and not find_lacking(self._requirements, unit.words, dated):
                worth *= KIND_WORTH
            # "No." has no terms but those of its question.
            held = self.terms_of(unit.question) if unit.is_answer else frozenset[str]()
            yield _Found(worth, passage, unit, whole[place] | held, together)


def select_quotes(
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
    asked, asks_when = _Question(question, index, empty), asks_for_date(question)
    best_score = max((passage.hit.score for passage in passages), default=0.0) or 1.0
    read: list[tuple[NumberedPassage, list[Unit], str]] = []
    found: dict[str, _Found] = {}
    for passage in passages:
        units, count = _units_of(passage, index)
        dated = find_dated(reversed([*passage.hit.headings()])) if asks_when else ""
        read.append((passage, units, dated))
        is_first = is_strong and passage is passages[0]
        least = MIN_SHARE_IN_FIRST if is_first else MIN_SHARE_TOGETHER
        rank = (passage.hit.score / best_score) ** 2
        for one in asked.judge(passage, units, count, least, dated):
            ranked = replace(one, worth=one.worth * rank)
            found.setdefault(one.unit.words or one.unit.code_text, ranked)
    chosen = _choose([*found.values()])
    quotes = []
    for passage, units, dated in read:
        picked = [one.unit for one in chosen if one.passage is passage]
        for quote in quote_units(units, picked, asked.coverage_of):
            label = " > ".join(dict.fromkeys(filter(None, [dated, quote.label])))
            quotes.append((passage, replace(quote, label=label)))
            dated = ""
    return quotes, max((one.share for one in chosen), default=0.0)


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
