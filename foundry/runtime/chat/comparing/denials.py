"""Detects that only one of two similar sentences is negated."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache

from .edits import has_opposite
from .words import Clause, Stem, count_denials, denies_openly, read_clauses, restricts

ALIGNED = 0.4  # Sentences are compared if one contains more than this share of the other.
# Tolerance for equally similar clauses, and how many of them are compared.
AS_NEAR, MAX_NEAR = 0.05, 5
SHORTER = 0.2  # Bonus for a clause without additional words.

_PREFIX = re.compile(r"(?:un|non-?|in|im|ir|il|dis)(\w{4,})")

Weigh = Callable[[Iterable[str]], Mapping[str, float]]


class Denials:
    """Compares negations in sentences; `weigh` gives the rarity of stems."""

    def __init__(self, stem: Stem, weigh: Weigh) -> None:
        self._stem = stem
        self._weigh = weigh
        self._clauses = cache(self._read_clauses)

    def differ(self, text: str, other: str) -> bool:
        """Return whether two sentences certainly contradict each other by a negation."""
        ours, theirs = (read_clauses(each, self._stem, minimum=1) for each in (text, other))
        denials = _denials(ours, theirs), _denials(theirs, ours)
        if sum(denials) % 2 == 0:
            return False
        more, less = (text, other) if denials[0] > denials[1] else (other, text)
        return not denies_openly(more) and not restricts(less)

    def in_clause(
        self, text: str, nearest: str, others: Sequence[str], weights: Mapping[str, float]
    ) -> float:
        """Return the similarity, 0 to 1, of two clauses if only one of them is negated.

        Returns 0 if there are no such pairs of clauses, or an even number, which may cancel out.
        """
        # If both sentences are negated, the negations may belong to different clauses.
        if _both_deny(text, nearest):
            return 0.0
        theirs = [clause for other in others for clause in self._clauses(other)]
        flipped = []
        for clause in self._clauses(text):
            own = {stem: weights[stem] for stem in clause.stems if stem in weights}
            shares = [(share_of(own, other.stems), other) for other in theirs]
            if not own or not shares:
                continue
            total = sum(own.values())
            shares.sort(
                key=lambda one: one[0] * (1 + SHORTER * total / (self._mass(one[1].stems) or 1.0)),
                reverse=True,
            )
            share, best = shares[0]
            near = [other for held, other in shares[:MAX_NEAR] if held >= share - AS_NEAR]
            if (
                share > ALIGNED
                and self._is_flipped(clause, best)
                and all(self._is_flipped(clause, other) for other in near)
            ):
                flipped.append(share)
        # "If A, then B" means the same as "without B, no A": two negations cancel each other.
        if len(flipped) % 2 == 0:
            return 0.0
        return max(0.0, (max(flipped) - ALIGNED) / (1 - ALIGNED))

    def _is_flipped(self, clause: Clause, other: Clause) -> bool:
        """Return whether the negations of two clauses differ, and no opposite makes up for that."""
        if (clause.denials + other.denials) % 2 == 0:
            return False
        return not (
            has_opposite(clause.words, other.words, clause.tokens, other.tokens)
            or self._denies_by_prefix(clause, other)
            or self._denies_by_prefix(other, clause)
        )

    def _denies_by_prefix(self, clause: Clause, other: Clause) -> bool:
        prefixed = map(_PREFIX.fullmatch, clause.words)
        return any(one and self._stem(one[1]) in other.stems for one in prefixed)

    def _read_clauses(self, text: str) -> list[Clause]:
        return read_clauses(text, self._stem)

    def _mass(self, stems: Iterable[str]) -> float:
        return sum(self._weigh(stems).values())


def _denials(clauses: Iterable[Clause], others: Iterable[Clause]) -> int:
    """Return the number of negations in clauses that share a word with one of `others`."""
    there = frozenset[str]().union(*(one.stems for one in others))
    return sum(one.denials for one in clauses if not one.stems.isdisjoint(there))


def _both_deny(text: str, other: str) -> bool:
    """Return whether two sentences have the same number of negations, and at least one."""
    denials = count_denials(text)
    return denials > 0 and denials == count_denials(other)


def share_of(weights: Mapping[str, float], stems: Set[str]) -> float:
    """Return the share of the weights whose stems are in `stems`."""
    held = sum(weight for stem, weight in weights.items() if stem in stems)
    return held / (sum(weights.values()) or 1.0)
