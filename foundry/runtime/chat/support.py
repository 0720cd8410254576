"""Checks the sentences of a language model's answer against the passages that they cite.

A sentence without a citation is checked against all passages. They may lack:

- `number`: one of its numbers, in its unit and near similar text;
- `name`: a name or an identifier that the user did not mention either;
- `negation`: a similar sentence is negated where it is not, or vice versa, or has the opposite of
  one of its words;
- `words`: enough of its words, by rarity, in one place or in all passages together, and any
  sentence that is similar in meaning, by the index's own table of words if it has one.

If the documents are not in English, or the answer is not in the passages' language, only digits are
compared. Inventions that use the words of the passages are detected only in part: contradictions
and misplaced numbers are, but rarely a swapped subject and object.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal

from ..index.reader import Index
from ..index.records import Record
from ..retrieval.results import term_weights
from .answer import ChatEvent, Done, NumberedPassage
from .claims import (
    LIGHT_WORDS,
    NUMBER_WORDS,
    Claim,
    denies,
    numbers_of,
    read_claims,
)
from .comparing.comparison import Comparison, Statement, StatementReader
from .conversation import ENGLISH, heading_of
from .quoting.asked import MONTHS
from .quoting.units import sentences
from .text import find_sentence_ends

MAX_CLAIMS = 100  # Bounds the work for hostile answers; normal ones have fewer.

# Minimum shares of the weight of a sentence's terms; SAME_MEANING is the share of the way from the
# background cosine to 1.
ONE_PLACE, ALL_PLACES, NUMBER_PLACE, SAME_MEANING = 0.5, 0.6, 0.35, 0.25
MIN_TERMS = 3  # "Indeed." claims nothing.
# The language of a shorter answer cannot be determined.
TELLING_WORDS, MIN_SHARED_WORDS = 6, 0.2

_NAME = re.compile(r"(?<=[\w,;)] )[A-Z\u00c0-\u00de][\w'\u2019-]+")  # Within a sentence
_LINK_TARGET = re.compile(r"(?<=\]) ?\([^()\s]*\)")
_LIST_NUMBER = re.compile(r"^[ \t]*([0-9]{1,3})[.)]", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)*")

Lack = Literal["number", "name", "negation", "words"]
Finding = tuple[Lack, list[str]]


@dataclass(frozen=True, slots=True)
class UnsupportedSentence(Record):
    """A sentence of an answer, what the passages lack, and the words that show it."""

    sentence: str
    lacks: Lack
    missing: list[str]


@dataclass(frozen=True, slots=True)
class CheckedDone(Done):
    """Last event of a language model's answer: adds the sentences that no passage supports."""

    unsupported: list[UnsupportedSentence]


CheckedEvent = ChatEvent | CheckedDone


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence, with terms and numbers of its neighbours and of the headings above."""

    words: str
    beginnings: list[str]  # Its text from the beginning of each of its sentences on
    terms: frozenset[str]
    numbers: frozenset[str]
    statement: Statement


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage with its headings."""

    text: str
    terms: frozenset[str]
    numbers: frozenset[str]
    places: list[_Place]


def find_unsupported(
    answer: str, passages: Sequence[NumberedPassage], asked: str, index: Index
) -> list[UnsupportedSentence]:
    """Return the sentences that no passage supports, in order; `asked` is the user's text."""
    evidence = _Evidence(passages, asked, index, answer)
    examine = evidence.examine if evidence.is_readable(answer) else evidence.examine_digits
    return [
        UnsupportedSentence(claim.sentence, *found)
        for claim in islice(read_claims(answer), MAX_CLAIMS)
        if (found := examine(claim, evidence.cited_by(claim)))
    ]


class _Evidence:
    """The passages of an answer, prepared for comparison with its sentences."""

    def __init__(
        self, passages: Sequence[NumberedPassage], asked: str, index: Index, answer: str
    ) -> None:
        self._index = index
        self._light = frozenset(index.tokenizer.terms(" ".join({*LIGHT_WORDS, *MONTHS})))
        texts = [answer, *(passage.text for passage in passages)]
        self._reader = StatementReader(index.tokenizer.terms, self._light, self._weigh, texts)
        self._asked, self._asked_numbers = self._terms(asked), numbers_of(asked)
        self._passages = {one.source.number: self._read(one) for one in passages}
        dense = index.manifest.dense
        has_table = dense is not None and dense["query"]["encoder"] == "own"
        self._encode = cache(index.encoder.encode) if has_table else None
        self._background: float = dense["background"] if dense is not None else 0.0

    def cited_by(self, claim: Claim) -> list[_Passage]:
        """Return the passages that a claim cites, or all if it cites none."""
        numbers = claim.cited & self._passages.keys() or self._passages.keys()
        return [self._passages[number] for number in sorted(numbers)]

    def is_readable(self, answer: str) -> bool:
        """Return whether passages and answer are in English, as far as their words show."""
        texts = (passage.text.lower() for passage in self._passages.values())
        known = ENGLISH.empty.union(*map(_WORD.findall, texts))
        words = _WORD.findall(answer.lower())
        is_alike = sum(word in known for word in words) >= MIN_SHARED_WORDS * len(words)
        is_english = self._index.tokenizer.language == ENGLISH.language
        return is_english and (is_alike or len(words) < TELLING_WORDS)

    def examine_digits(self, claim: Claim, passages: Sequence[_Passage]) -> Finding | None:
        """Return a number in digits that the passages lack."""
        known = {_bare(number) for one in passages for number in _DIGITS.findall(one.text)}
        numbers = _DIGITS.findall(claim.text)
        missing = [number for number in numbers if _bare(number) not in known]
        return ("number", missing[:1]) if missing else None

    def examine(self, claim: Claim, passages: Sequence[_Passage]) -> Finding | None:
        """Return why the passages do not support a claim, and the words that show it."""
        places = [place for passage in passages for place in passage.places]
        said = _words(claim.text)
        if any(words.startswith(said) for place in places for words in place.beginnings):
            return None
        text = _LINK_TARGET.sub("", claim.text)
        known = frozenset[str]().union(*(passage.terms for passage in passages))
        # What the user mentioned needs no support.
        terms = self._terms(text) - self._light - (self._asked - known)
        weights = self._weigh(terms)
        shares = [(place, _share(weights, place.terms)) for place in places]
        numbers = frozenset[str]().union(*(passage.numbers for passage in passages))
        statements = [place.statement for place in places]
        compared = Comparison(text, statements, self._reader)
        number = self._missing_number(text, numbers, shares) or compared.misplaced_number()
        if number:
            return "number", [number]
        if name := self._missing_name(text, known | self._asked, numbers):
            return "name", [name]
        if compared.is_contradicted():
            return "negation", []
        if compared.has_another_subject():
            return "words", []
        best = max((share for _, share in shares), default=0.0)
        # Without embeddings, a paraphrase cannot be distinguished from an invention.
        is_said = best >= (ONE_PLACE if self._encode else ONE_PLACE / 2)
        is_said = is_said or len(terms) < MIN_TERMS or _share(weights, known) >= ALL_PLACES
        return None if is_said or self._is_meant(text, places) else ("words", [])

    def _missing_number(
        self, text: str, known: frozenset[str], shares: Sequence[tuple[_Place, float]]
    ) -> str | None:
        is_told = any(share >= ONE_PLACE for _, share in shares)
        quantities = {one.value: one for one in self._reader.quantities(text)}
        theirs = [one for place, _ in shares for one in place.statement.quantities]
        numbers = numbers_of(text)
        for number, written in numbers.items():
            # "One" is rarely meant as a number, and "not after 24 months" may correct the user.
            is_corrected = number in self._asked_numbers and denies(text) is not False
            # So may "five minutes are recorded as 60 seconds".
            is_beside = number in self._asked_numbers and not known.isdisjoint(numbers)
            if written in ("zero", "one", "once") or is_corrected or is_beside:
                continue
            quantity = quantities.get(number)
            if quantity and quantity.kind and any(map(quantity.equals, theirs)):
                continue
            there = [share for place, share in shares if number in place.numbers]
            if number not in known or (is_told and there and max(there) < NUMBER_PLACE):
                return written
        return None

    def _missing_name(
        self, text: str, known: frozenset[str], numbers: frozenset[str]
    ) -> str | None:
        for name in _NAME.findall(text):
            terms = self._terms(name)
            if terms and terms.isdisjoint(known) and MONTHS.get(name.lower()) not in numbers:
                return str(name)
        for token in self._index.tokenizer.tokenize(text):
            if token.is_identifier and not self._terms(token.text) <= known:
                return token.text
        return None

    def _is_meant(self, text: str, places: Iterable[_Place]) -> bool:
        """Return whether a sentence is similar to a text in meaning."""
        encode = self._encode
        if encode is None or (vector := encode(text)) is None:
            return False
        others = (encode(place.words) for place in places)
        cosine = max((float(vector @ other) for other in others if other is not None), default=0.0)
        return cosine - self._background >= SAME_MEANING * (1 - self._background)

    def _read(self, passage: NumberedPassage) -> _Passage:
        heading = heading_of(passage.hit)
        above, text = self._terms(heading), _LINK_TARGET.sub("", passage.text)
        # Numbers in headings and list markers count as near every sentence.
        labels = frozenset(numbers_of("\n".join([heading, *_LIST_NUMBER.findall(text)])))
        texts, places = [*sentences(passage.text)], []
        for number, sentence in enumerate(texts):
            around = " ".join(texts[max(0, number - 1) : number + 2])
            terms, numbers = above | self._terms(around), labels.union(numbers_of(around))
            before = texts[number - 1] if number else ""
            statement = self._reader.read(sentence, before, heading)
            places.append(
                _Place(_words(sentence), _beginnings(sentence), terms, numbers, statement)
            )
        whole = f"{heading}\n{text}"
        # A name may occur only in the path.
        path = " ".join(_WORD.findall(passage.hit.path))
        terms = self._terms(f"{whole}\n{path}")
        return _Passage(whole, terms, frozenset(numbers_of(whole)), places)

    def _terms(self, text: str) -> frozenset[str]:
        """Return the terms of a text, except numbers."""
        tokens = self._index.tokenizer.tokenize(text)
        words = (token for token in tokens if token.text.lower() not in NUMBER_WORDS)
        terms = (term for token in words for term in token.terms)
        return frozenset(term for term in terms if any(map(str.isalpha, term)))

    def _weigh(self, terms: Iterable[str]) -> dict[str, float]:
        """Return the rarity of each term; a term in no chunk gets the mean of the others."""
        weights = term_weights(self._index, terms)
        known = [one for one in weights if self._index.keyword_lane.frequency(one)]
        usual = sum(map(weights.__getitem__, known)) / len(known) if known else 1.0
        return {**dict.fromkeys(weights, usual), **{one: weights[one] for one in known}}


def _share(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    held = sum(weight for term, weight in weights.items() if term in terms)
    return held / (sum(weights.values()) or 1.0)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _beginnings(text: str) -> list[str]:
    starts = [0, *find_sentence_ends(text, 0, len(text))]
    return [_words(text[start:]) for start in starts]


def _bare(number: str) -> str:
    return re.sub(r"\D", "", number)
