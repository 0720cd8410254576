"""Measures, from 0 to 1, of the ways in which passages fail to support a sentence.

Three measures concern all passages: `number` (they lack one of its numbers, in any unit), `name`
(they lack a name or an identifier), and `unfounded` (they lack most of the words).

The others compare the sentence with the most similar one: `changed_number` (or unit), `opposite`,
`denial` (only one of the two is negated), `denied_clause`, `changed_word` (replaced by another word
of the passages), and `exchange` (of two words or numbers; 0 or 1). The others are higher the more
similar the rest of the two sentences is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from ...index.reader import Index
from ...retrieval.match import term_weights
from ..claims import LIGHT_WORDS, NUMBER_WORDS, numbers_of
from ..quoting.asked import MONTHS
from ..quoting.units import sentences
from .denials import ALIGNED, Denials, share_of
from .edits import find_edits
from .quantities import UNITS, Quantity, find_missing_numbers, read_quantities
from .words import Token, base_form, read_tokens, stems_of

# Minimum weights of a term in no chunk and of any other term, and the weight of a number
RARE, COMMON, NUMBER = 3.0, 0.3, 3.0
WORDY = 0.03  # Subtracted from a sentence's similarity for each of its words
SURELY, HELD = 0.75, 0.2
UNFOUNDED = 0.5  # Paraphrases may lack this share of the words
MIN_TERMS = 3  # "Indeed." makes no statement
ABOUT_AS_NEAR = 0.3

_WORD = re.compile(r"[^\W_]+")
# Names count only within a sentence.
_NAME = re.compile(r"(?<=[\w,;)] )[A-Z\u00c0-\u00de][\w'\u2019-]+")
_DECIMAL = re.compile(r"\d+[.,]\d+")  # Decimals are compared as numbers.
_LINK_TARGET = re.compile(r"(?<=\]) ?\([^()\s]*\)")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_REPLY = re.compile(r"(?:yes|no)\b[,.:;]?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Lacks:
    """The measures of a sentence; `missing` has a missing number and name, if any, by measure."""

    number: float = 0.0
    changed_number: float = 0.0
    name: float = 0.0
    opposite: float = 0.0
    denial: float = 0.0
    denied_clause: float = 0.0
    changed_word: float = 0.0
    exchange: float = 0.0
    unfounded: float = 0.0
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence of a passage."""

    text: str
    tokens: list[Token]
    keys: frozenset[str]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Passage:
    """The words and numbers of a passage, its headings and its path, and its sentences."""

    stems: frozenset[str]
    terms: frozenset[str]
    numbers: frozenset[str]
    quantities: list[Quantity]
    places: list[_Place]


class Evidence:
    """Reads passages, and measures which parts of sentences they do not support."""

    def __init__(self, index: Index, asked: str) -> None:
        self._index = index
        self._light = frozenset(index.tokenizer.terms(" ".join({*LIGHT_WORDS, *MONTHS})))
        self._stem = cache(self._find_stem)
        self._weight = cache(self._find_weight)
        self._denials = Denials(self._stem, self._weigh)
        self._quantities = cache(read_quantities)
        self._asked = stems_of(read_tokens(asked, self._stem))
        self._asked_terms = frozenset(index.tokenizer.terms(asked))
        self._asked_numbers = numbers_of(asked)

    def read(self, heading: str, text: str, path: str) -> Passage:
        """Return a passage prepared for comparison with sentences."""
        plain = _LINK_TARGET.sub("", _FENCE.sub("", text))
        # The path is included, because some names occur nowhere else.
        whole = f"{heading}\n{plain}\n{' '.join(_WORD.findall(path))}"
        tokens = read_tokens(whole, self._stem)
        places = []
        for sentence in sentences(_FENCE.sub("", text)):
            places.append(self._read_place(_LINK_TARGET.sub("", sentence)))
        return Passage(
            stems=frozenset(stems_of(tokens)),
            terms=frozenset(self._index.tokenizer.terms(whole)),
            numbers=frozenset(one.value for one in tokens if one.value).union(numbers_of(whole)),
            quantities=read_quantities(whole),
            places=places,
        )

    def _read_place(self, text: str) -> _Place:
        tokens = read_tokens(text, self._stem)
        keys = frozenset(one.key for one in tokens)
        return _Place(text, tokens, keys, frozenset(stems_of(tokens)))

    def measure(self, text: str, passages: Sequence[Passage]) -> Lacks:
        """Measure which parts of a sentence the passages do not support."""
        text = _LINK_TARGET.sub("", text)
        names = self._missing_names(text, passages)
        numbers = self._missing_numbers(text, passages)
        missing = {"number": numbers[:1], "name": names[:1]}
        name, number = float(bool(names)), float(bool(numbers))
        said = _REPLY.sub("", text) if _REPLY.match(text) else text
        tokens = read_tokens(said, self._stem)
        known = frozenset[str]().union(*(one.stems for one in passages))
        # Words of the user's own question need no support.
        stems = stems_of(tokens) - (self._asked - known)
        weights = self._weigh(stems)
        places = [place for one in passages for place in one.places]
        unfounded = _unfounded(weights, known)
        if not places:
            return Lacks(number=number, name=name, unfounded=unfounded, missing=missing)
        found = self._compare(said, tokens, places, weights, known)
        return replace(found, number=number, name=name, unfounded=unfounded, missing=missing)

    def _compare(
        self,
        said: str,
        tokens: Sequence[Token],
        places: Sequence[_Place],
        weights: Mapping[str, float],
        known: frozenset[str],
    ) -> Lacks:
        """Compare a sentence with the most similar one of `places`."""
        shares = [share_of(weights, place.stems) for place in places]
        best = _most_similar(tokens, places, weights, shares)
        place, aligned = places[best], max(0.0, (shares[best] - ALIGNED) / (1 - ALIGNED))
        edits = find_edits(tokens, place.tokens, known)
        mine, theirs = self._quantities(said), self._quantities(place.text)
        units = {one.stem for one in tokens if one.text in UNITS}
        weighty = {stem: weight for stem, weight in weights.items() if stem not in units}
        plain = [share_of(weighty, one.stems) for one in places]
        is_same = all(any(map(one.equals, theirs)) for one in mine)
        is_converted = is_same and not {one.value for one in mine} <= {one.value for one in theirs}
        near = [
            each.text
            for each, share in zip(places, shares, strict=True)
            if share >= shares[best] - ABOUT_AS_NEAR
        ]
        return Lacks(
            changed_number=max(
                0.0 if is_converted else edits.number,
                self._other_number(mine, places, plain),
            ),
            opposite=edits.opposite,
            denial=aligned * self._denials.differ(said, place.text),
            denied_clause=self._denials.in_clause(said, place.text, near, weights),
            changed_word=edits.word,
            exchange=edits.exchange,
        )

    def _missing_numbers(self, text: str, passages: Sequence[Passage]) -> list[str]:
        known = frozenset[str]().union(*(one.numbers for one in passages), self._asked_numbers)
        theirs = [one for passage in passages for one in passage.quantities]
        return find_missing_numbers(text, known, theirs)

    def _missing_names(self, text: str, passages: Sequence[Passage]) -> list[str]:
        known = self._asked_terms.union(*(one.terms for one in passages))
        numbers = frozenset[str]().union(*(one.numbers for one in passages))
        terms = self._index.tokenizer.terms
        names = [
            str(name)
            for name in _NAME.findall(text)
            if known.isdisjoint(found := [*terms(name)])
            and found
            and MONTHS.get(name.lower()) not in numbers
        ]
        tokens = self._index.tokenizer.tokenize(text)
        return names + [
            token.text
            for token in tokens
            if token.is_identifier
            and not known.issuperset(terms(token.text))
            and not _DECIMAL.fullmatch(token.text)
        ]

    def _other_number(
        self, quantities: Sequence[Quantity], places: Sequence[_Place], shares: Sequence[float]
    ) -> float:
        """Return how surely the most similar sentence has a different number of the same kind."""
        found = 0.0
        for one in quantities:
            others = [other for other in quantities if other is not one]
            scores = []
            for place, share in zip(places, shares, strict=True):
                theirs = self._quantities(place.text)
                scores.append(share + HELD * sum(any(map(each.equals, theirs)) for each in others))
            nearest = scores.index(max(scores))
            theirs = self._quantities(places[nearest].text)
            rivals = [other for other in theirs if one.kind and other.kind == one.kind]
            if rivals and not any(map(one.equals, theirs)):
                found = max(found, (shares[nearest] - SURELY) / (1 - SURELY))
        return found

    def _find_stem(self, word: str) -> str | None:
        terms = () if word in NUMBER_WORDS else self._index.tokenizer.terms(base_form(word))
        stem = next((term for term in terms if any(map(str.isalpha, term))), None)
        return None if stem in self._light else stem

    def _find_weight(self, stem: str) -> float | None:
        if not self._index.keyword_lane.frequency(stem):
            return None
        return term_weights(self._index, [stem]).get(stem)

    def _weigh(self, stems: Iterable[str]) -> dict[str, float]:
        """Return the rarity of each stem; stems in no chunk get the mean, and at least RARE."""
        weights = {stem: self._weight(stem) for stem in stems}
        known = [weight for weight in weights.values() if weight is not None]
        usual = max(RARE, sum(known) / len(known) if known else RARE)
        return {
            stem: usual if weight is None else max(COMMON, weight)
            for stem, weight in weights.items()
        }


def _most_similar(
    tokens: Sequence[Token],
    places: Sequence[_Place],
    weights: Mapping[str, float],
    shares: Sequence[float],
) -> int:
    """Return the position of the place that shares most words and numbers with a sentence."""
    values = [f"#{one.value}" for one in tokens if one.value]
    total = sum(weights.values()) + NUMBER * len(values) or 1.0
    scores = []
    for place, share in zip(places, shares, strict=True):
        held = sum(value in place.keys for value in values)
        gain = NUMBER * held - WORDY * len(place.keys)
        scores.append(share * (total - NUMBER * len(values)) / total + gain / total)
    return scores.index(max(scores))


def _unfounded(weights: Mapping[str, float], known: frozenset[str]) -> float:
    """Return 0 if the passages have at least half of a sentence's words by weight, 1 if none.

    A sentence of fewer than MIN_TERMS words always gets 0.
    """
    if len(weights) < MIN_TERMS:
        return 0.0
    lacking = 1 - share_of(weights, known)
    return max(0.0, (lacking - UNFOUNDED) / (1 - UNFOUNDED))
