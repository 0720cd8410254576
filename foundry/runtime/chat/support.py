"""Checks the sentences of a language model's answer against the passages that they cite.

A sentence without a citation is checked against all passages. `comparing.evidence` measures
unsupported parts, and `comparing.coefficients` weights them; a sentence is marked if the weighted
sum is high enough. The reported reason is the most important one:

- `number`: the passages lack a number, or a similar sentence has another number or unit;
- `name`: the passages lack a name or an identifier, and the user did not mention it either;
- `negation`: only one of the sentence and a similar one is negated, or they contain opposites;
- `words`: the passages lack most of its words, or a similar sentence has other words or another
  order.

Most wrong sentences that are worded freely are not detected: that takes a language model. If the
documents are not in English, or the answer is not in the passages' language, only digits are
compared.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal

from ..index.reader import Index
from ..index.records import Record
from .answer import ChatEvent, Done, NumberedPassage
from .claims import Claim, read_claims
from .comparing.coefficients import COEFFICIENTS
from .comparing.evidence import Evidence, Lacks, Passage
from .conversation import ENGLISH, heading_of
from .quoting.units import sentences
from .text import find_sentence_ends

MAX_CLAIMS = 100  # Limits the work for hostile answers; normal answers have fewer claims.

# The language of a shorter answer cannot be determined.
TELLING_WORDS, MIN_SHARED_WORDS = 6, 0.2

_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)*")

Lack = Literal["number", "name", "negation", "words"]
Finding = tuple[Lack, list[str]]
_KINDS: dict[str, Lack] = {
    "number": "number",
    "changed_number": "number",
    "name": "name",
    "opposite": "negation",
    "denial": "negation",
    "denied_clause": "negation",
    "changed_word": "words",
    "exchange": "words",
    "unfounded": "words",
}


@dataclass(frozen=True, slots=True)
class UnsupportedSentence(Record):
    """A sentence of an answer, the kind of missing support, and the words that show it."""

    sentence: str
    lacks: Lack
    missing: list[str]


@dataclass(frozen=True, slots=True)
class CheckedDone(Done):
    """Last event of a language model's answer: adds the sentences that no passage supports."""

    unsupported: list[UnsupportedSentence]


CheckedEvent = ChatEvent | CheckedDone


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage; `beginnings` are the words of its units, from each sentence to the unit's end."""

    beginnings: list[str]
    evidence: Passage


def find_unsupported(
    answer: str, passages: Sequence[NumberedPassage], asked: str, index: Index
) -> list[UnsupportedSentence]:
    """Return the sentences that no passage supports, in order; `asked` is the user's text."""
    check = Check(passages, asked, index)
    examine = check.examine if check.is_readable(answer) else check.examine_digits
    return [
        UnsupportedSentence(claim.sentence, *found)
        for claim in islice(read_claims(answer), MAX_CLAIMS)
        if (found := examine(claim))
    ]


class Check:
    """Checks the sentences of an answer against its passages."""

    def __init__(self, passages: Sequence[NumberedPassage], asked: str, index: Index) -> None:
        self._passages = {one.source.number: one for one in passages}
        self._language = index.tokenizer.language
        self._evidence = Evidence(index, asked)
        self._read = cache(self._read_passage)

    def is_readable(self, answer: str) -> bool:
        """Return whether the documents are in English, and the answer in the same language.

        The answer's language is judged by its words, unless it has fewer than TELLING_WORDS.
        """
        texts = (passage.text.lower() for passage in self._passages.values())
        known = ENGLISH.empty.union(*map(_WORD.findall, texts))
        words = _WORD.findall(answer.lower())
        is_alike = sum(word in known for word in words) >= MIN_SHARED_WORDS * len(words)
        return self._language == ENGLISH.language and (is_alike or len(words) < TELLING_WORDS)

    def examine_digits(self, claim: Claim) -> Finding | None:
        """Return the first number in digits that the passages lack; None if they have all."""
        texts = (self._passages[number].text for number in self._cited_by(claim))
        headings = (heading_of(self._passages[number].hit) for number in self._cited_by(claim))
        known = {_bare(number) for text in (*texts, *headings) for number in _DIGITS.findall(text)}
        missing = [one for one in _DIGITS.findall(claim.text) if _bare(one) not in known]
        return ("number", missing[:1]) if missing else None

    def examine(self, claim: Claim) -> Finding | None:
        """Return why the passages do not support a claim, with words that show it, or None."""
        lacks = self.measure(claim)
        if lacks is None:
            return None
        told = {kind: weight * getattr(lacks, kind) for kind, weight in COEFFICIENTS.items()}
        if sum(told.values()) < 1:
            return None
        shown = next((kind for kind in ("name", "number") if lacks.missing[kind]), None)
        lack = _KINDS[shown or max(told, key=told.__getitem__)]
        return lack, [*lacks.missing[shown]][:1] if shown else []

    def measure(self, claim: Claim) -> Lacks | None:
        """Measure how far the passages support a claim; None if one contains it word for word."""
        cited = [self._read(number) for number in self._cited_by(claim)]
        said = _words(claim.text)
        if any(words.startswith(said) for one in cited for words in one.beginnings):
            return None
        return self._evidence.measure(claim.text, [one.evidence for one in cited])

    def _cited_by(self, claim: Claim) -> list[int]:
        """Return the numbers of the passages that a claim cites; of all if it cites none."""
        return sorted(claim.cited & self._passages.keys() or self._passages.keys())

    def _read_passage(self, number: int) -> _Passage:
        passage = self._passages[number]
        beginnings = [words for said in sentences(passage.text) for words in _beginnings(said)]
        heading = heading_of(passage.hit)
        return _Passage(beginnings, self._evidence.read(heading, passage.text, passage.hit.path))


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _beginnings(text: str) -> list[str]:
    starts = [0, *find_sentence_ends(text, 0, len(text))]
    return [_words(text[start:]) for start in starts]


def _bare(number: str) -> str:
    return re.sub(r"\D", "", number)
