"""Compares a claim with the most similar sentences of its passages.

The claim is contradicted if the nearest sentences negate a word that it does not negate or contain
the opposite of one, if it says "always" where they are conditional, or if both say "only" about
different things. A number is misplaced if the nearest sentence that contains it resembles the claim
less than a sentence with another number of the same kind: the claim took it from another row or
subject. A claim of one clause has the wrong subject if its first words occur in other sentences
than the rest of it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile

from ..claims import NUMBER_WORDS, numbers_of
from .contrasts import (
    Word,
    base_form,
    denied_stems,
    differently_denied,
    is_open,
    opposites,
    read_words,
)
from .quantities import Quantity, read_quantities

# Minimum shares of a claim's weight in a sentence, alone (NEAR) or with its context (AROUND).
NEAR, AROUND, OPPOSITE = 0.35, 0.5, 0.5
ABOUT_AS_NEAR, MORE_LIKE, MUCH_MORE_LIKE = 0.25, 0.1, 0.5
NUMBER_WORTH = 1.5  # What another number of the claim counts, in terms
MAX_NEAR = 6
SUBJECT = 2  # Number of words

_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE_END = re.compile(r"[;,](?!\d)|\b(?:while|whereas|but|and(?! \d))\b", re.IGNORECASE)
_COMMA = re.compile("[,;:](?!\\d)")
_ONLY = ("only", "solely", "exclusively")
# "Every 8 days" means something else than "at 8 days".
_LEADS = ("every", "each", "per", "within", "after", "least", "most", "than", "until")
_UNIVERSAL = re.compile(
    r"\b(?:always|regardless|however (?:many|much|large|small|old|long)|no matter|whatever the"
    r"|in (?:every|all) cases?|under (?:all|any)|without exception|at any time)\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|only|except|some|most|usually|sometimes|may|might|often|mostly|generally"
    r"|normally|depend\w*)\b",
    re.IGNORECASE,
)

Weigh = Callable[[Iterable[str]], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, with the words of the sentence before it and of the headings above."""

    text: str
    words: list[Word]
    around: list[Word]
    quantities: list[Quantity]
    stems: frozenset[str]
    heading: frozenset[str]
    weight: float


class StatementReader:
    """Reads sentences; `terms` returns the terms of a word, `light` terms are ignored."""

    def __init__(
        self,
        terms: Callable[[str], Iterable[str]],
        light: frozenset[str],
        weigh: Weigh,
        texts: Iterable[str],
    ) -> None:
        self._terms = terms
        self._light = light
        self.weigh = weigh
        self.stem = cache(self._stem)
        words = {word.lower() for text in texts for word in _WORD.findall(text)}
        self._roots = frozenset(map(self.stem, words))

    def _stem(self, word: str) -> str | None:
        terms = () if word in NUMBER_WORDS else self._terms(base_form(word))
        stem = next((term for term in terms if any(map(str.isalpha, term))), None)
        return None if stem in self._light else stem

    def words(self, text: str) -> list[Word]:
        """Return the words of a text."""
        return read_words(text, self.stem, self._roots)

    def quantities(self, text: str) -> list[Quantity]:
        """Return the numbers of a text, except "one" and "once", which are rarely numbers."""
        spoken = [
            (value, written)
            for value, written in numbers_of(text).items()
            if not written[0].isdigit() and written not in ("one", "once")
        ]
        return read_quantities(text, spoken, self.stem)

    def read(self, text: str, before: str = "", heading: str = "") -> Statement:
        """Return a parsed sentence."""
        words, above = self.words(text), self.words(heading)
        stems = _stems(words)
        return Statement(
            text=text,
            words=words,
            around=[*words, *self.words(before), *above],
            quantities=self.quantities(text),
            stems=stems,
            heading=_stems(above),
            weight=sum(self.weigh(stems).values()),
        )


def _stems(words: Iterable[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in words if word.stem)


class Comparison:
    """A claim, to be compared with the sentences of its passages."""

    def __init__(self, text: str, places: Sequence[Statement], reader: StatementReader) -> None:
        self._claim = reader.read(text)
        self._places = places
        self._reader = reader
        self._weights = reader.weigh(self._claim.stems)

    def is_contradicted(self) -> bool:
        """Return whether the nearest sentences say the opposite, or are less general."""
        near = self._near()
        return bool(near) and (
            self._is_denied(near)
            or self._is_opposed(near)
            or self._is_too_general(near[0][2])
            or self._is_only_other(near[0][2])
        )

    def has_another_subject(self) -> bool:
        """Return whether a sentence says the rest of the claim about another subject."""
        if not self._places or _COMMA.search(self._claim.text):
            return False
        nearest = max(self._places, key=self._likeness)
        subject = [word.stem for word in self._claim.words if word.stem][:SUBJECT]
        return _share(self._weights, nearest.stems) >= AROUND and any(
            stem not in _stems(nearest.around) and any(stem in one.stems for one in self._places)
            for stem in subject
        )

    def _likeness(self, place: Statement) -> float:
        """Return the share of the claim in a sentence, plus the similarity of both (Dice)."""
        share = _share(self._weights, place.stems)
        total = self._claim.weight + place.weight
        return share + (2 * share * self._claim.weight / total if total else 0.0)

    def _near(self) -> list[tuple[float, float, Statement]]:
        """Return similarity, the claim's share in the context, and sentence; nearest first."""
        found = []
        for place in self._places:
            around = _share(self._weights, _stems(place.around))
            if _share(self._weights, place.stems) >= NEAR and around >= AROUND:
                found.append((self._likeness(place), around, place))
        found.sort(key=lambda one: -one[0])
        return [one for one in found if one[0] >= found[0][0] - ABOUT_AS_NEAR][:MAX_NEAR]

    def _is_denied(self, near: Sequence[tuple[float, float, Statement]]) -> bool:
        if is_open(self._claim.text):
            return False
        ours = denied_stems(self._claim.words)
        theirs = [denied_stems(place.words) for _, _, place in near]
        different = [differently_denied(ours, words) for words in theirs]
        # If another sentence agrees with the claim on these words, nothing is proven.
        alike = [words for words, denied in zip(theirs, different, strict=True) if not denied]
        for (_, _, place), denied in zip(near[:3], different, strict=False):
            is_said = any(words.get(stem) is ours[stem] for words in alike for stem in denied)
            if denied and not is_said and not is_open(place.text):
                return True
        return False

    def _is_opposed(self, near: Sequence[tuple[float, float, Statement]]) -> bool:
        numbers = {one.value for one in self._claim.quantities}
        for _, around, place in near:
            has_numbers = numbers <= {one.value for one in place.quantities}
            if not has_numbers or _share(self._weights, place.stems) < OPPOSITE:
                continue
            beside = [other for _, share, other in near if share >= around - MORE_LIKE]
            said = {word.text for other in beside for word in other.around}
            if any(word not in said for word in opposites(self._claim.words, place.words)):
                return True
        return False

    def _is_too_general(self, nearest: Statement) -> bool:
        return (
            _UNIVERSAL.search(self._claim.text) is not None
            and _CONDITIONAL.search(self._claim.text) is None
            and _UNIVERSAL.search(nearest.text) is None
            and _CONDITIONAL.search(nearest.text) is not None
        )

    def _is_only_other(self, nearest: Statement) -> bool:
        ours, theirs = _after_only(self._claim.words), _after_only(nearest.words)
        if ours is None or theirs is None:
            return False
        is_known = any(ours in place.stems for place in self._places)
        return is_known and ours not in nearest.stems and theirs not in self._claim.stems

    def misplaced_number(self) -> str | None:
        """Return a number that the passages have with another unit, or about something else."""
        every = [one for place in self._places for one in place.quantities]
        for number in self._claim.quantities:
            same = [one for one in every if one.value == number.value]
            has_others = all(one.kind and not number.equals(one) for one in same)
            if number.kind and same and has_others and not any(map(number.equals, every)):
                return number.written
            if self._is_of_another(number) or self._is_beside_another(number):
                return number.written
        return None

    def _is_of_another(self, number: Quantity) -> bool:
        """Return whether a sentence with a rival resembles the number's clause more."""
        clause = self._clause_of(number)
        stems = _stems(self._reader.words(clause)) - {number.around[1]}
        stems = stems if len(stems) > 1 else self._claim.stems - {number.around[1]}
        within = {one.value for one in self._reader.quantities(clause)}
        others = {
            one.value
            for one in self._claim.quantities
            if one.group != number.group and one.value in within
        } - {number.value}
        weights = self._reader.weigh(stems)

        def likeness(place: Statement) -> float:
            held = len(others & {one.value for one in place.quantities})
            return len(stems) * _share(weights, place.stems | place.heading) + NUMBER_WORTH * held

        having = [place for place in self._places if any(map(number.equals, place.quantities))]
        rivals = [
            place
            for place in self._places
            if not any(map(number.equals, place.quantities))
            and any(number.rivals(one) for one in place.quantities if one.value not in others)
        ]
        if not having or not rivals:
            return False
        best = max(rivals, key=likeness)
        # A number without a unit may be part of a name.
        is_told = bool(number.kind) or number.value.count(".") > 1
        least = max(map(likeness, having)) + (MORE_LIKE if is_told else MUCH_MORE_LIKE)
        return likeness(best) > least and _share(self._weights, _stems(best.around)) >= NEAR

    def _is_beside_another(self, number: Quantity) -> bool:
        """Return whether the number's neighbours, as in "every 8 days", stand next to a rival."""
        for place in self._places if number.before in _LEADS else ():
            same = [
                one
                for one in place.quantities
                if number.equals(one) and one.around[1] == number.around[1]
            ]
            rivals = [one for one in place.quantities if _has_beside(one, number)]
            is_elsewhere = same and not any(_has_beside(one, number) for one in same)
            is_near = is_elsewhere and rivals and _share(self._weights, place.stems) >= AROUND
            if is_near and not any(map(number.equals, rivals)):
                return True
        return False

    def _clause_of(self, number: Quantity) -> str:
        written = re.compile(rf"(?<![\d.]){re.escape(number.written)}(?!\d)")
        for clause in _CLAUSE_END.split(self._claim.text):
            if written.search(clause) or number.value in numbers_of(clause):
                return clause
        return self._claim.text


def _has_beside(number: Quantity, other: Quantity) -> bool:
    return number.before == other.before and number.around[1] == other.around[1]


def _after_only(words: Sequence[Word]) -> str | None:
    """Return the stem of the first word after "only"."""
    after = dropwhile(lambda word: word.text not in _ONLY, words)
    return next((word.stem for word in after if word.stem), None)


def _share(weights: Mapping[str, float], stems: Iterable[str]) -> float:
    held = sum(weights[stem] for stem in frozenset(stems) if stem in weights)
    return held / (sum(weights.values()) or 1.0)
