"""Compares two similar sentences word by word, as `diff` compares lines.

A change weighs more if more of the words next to it are equal. All measures are from 0 to 1.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from itertools import dropwhile
from typing import NamedTuple

from ...retrieval.opposites import SIDES
from .quantities import UNITS
from .words import Token

# A change with this many equal words around it has the full weight.
ENOUGH_BESIDE = 4
# Maximum numbers of words, and of content words, in a change; longer changes are paraphrases.
MAX_WORDS, MAX_TELLING = 4, 2


class Edits(NamedTuple):
    """The largest weight of each kind of change between two sentences."""

    number: float = 0.0
    opposite: float = 0.0
    word: float = 0.0
    exchange: float = 0.0


class _Change(NamedTuple):
    ours: Sequence[Token]
    theirs: Sequence[Token]
    beside: float
    # Whether there are equal words after the change, and also before it unless it begins the
    # sentence.
    is_between: bool


def find_edits(ours: Sequence[Token], theirs: Sequence[Token], known: frozenset[str]) -> Edits:
    """Weigh the changes between two sentences; `known` are the stems of all passages."""
    number = opposite = word = 0.0
    swapped: list[tuple[set[str], set[str]]] = []
    words, others = ({one.text for one in tokens} for tokens in (ours, theirs))
    for change in _changes(ours, theirs):
        denials = [sum(one.denies for one in side) for side in (change.ours, change.theirs)]
        if denials[0] == denials[1] and has_opposite(words, others, change.ours, change.theirs):
            opposite = max(opposite, change.beside)
        mine, other = _telling(change.ours), _telling(change.theirs)
        if not (0 < len(mine) <= MAX_TELLING and 0 < len(other) <= MAX_TELLING):
            continue
        swapped.append(({one.key for one in mine}, {one.key for one in other}))
        if _is_number(mine, other):
            number = max(number, change.beside)
        elif change.is_between and all(one.stem in known for one in mine):
            word = max(word, change.beside)
    is_exchange = any(a & d and b & c for a, b in swapped for c, d in swapped)
    is_exchange = is_exchange or _exchanges_numbers(ours, theirs)
    if _are_turned(ours, theirs):
        # "A is more than B" and "B is less than A" do not contradict each other.
        is_exchange, opposite = is_exchange and not opposite, 0.0
    return Edits(number, opposite, word, float(is_exchange))


def _changes(ours: Sequence[Token], theirs: Sequence[Token]) -> Iterator[_Change]:
    """Yield the short parts in which two sentences differ."""
    matcher = SequenceMatcher(
        None, [one.key for one in ours], [one.key for one in theirs], autojunk=False
    )
    parts = matcher.get_opcodes()
    lengths = [end - start if tag == "equal" else 0 for tag, start, end, _, _ in parts]
    for number, (tag, start, end, begin, stop) in enumerate(parts):
        if tag == "replace" and end - start <= MAX_WORDS and stop - begin <= MAX_WORDS:
            before = lengths[number - 1] if number else 0
            after = lengths[number + 1] if number + 1 < len(parts) else 0
            beside = min(1.0, (before + after) / ENOUGH_BESIDE)
            yield _Change(
                ours[start:end],
                theirs[begin:stop],
                beside,
                is_between=(before > 0 or start <= 1) and after > 0,
            )


def _telling(tokens: Sequence[Token]) -> list[Token]:
    return [one for one in tokens if one.has_content]


def _is_number(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    if any(one.value for one in ours) and any(one.value for one in theirs):
        return True
    mine, other = ({UNITS.get(one.text) for one in each} - {None} for each in (ours, theirs))
    return bool(mine and other) and mine.isdisjoint(other)


def has_opposite(
    words: Set[str], others: Set[str], ours: Iterable[Token], theirs: Iterable[Token]
) -> bool:
    """Return whether one of `ours` is the opposite of one of `theirs`.

    A word does not count if both texts, `words` and `others`, have words of the same side of the
    opposition, because the word may then be about something else.
    """
    there = {one.text for one in theirs}
    return any(
        not opposite.isdisjoint(there) and own.isdisjoint(others) and opposite.isdisjoint(words)
        for token in ours
        for own, opposite in SIDES.get(token.text, ())
    )


def _exchanges_numbers(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Return whether two numbers are exchanged, and all other words are in the same order."""
    mine, other = ([one.key for one in tokens if one.has_content] for tokens in (ours, theirs))
    shared = [key for key in mine if mine.count(key) == 1 and other.count(key) == 1]
    places = [other.index(key) for key in shared]
    moved = [
        key for key, was, now in zip(shared, places, sorted(places), strict=True) if was != now
    ]
    return len(moved) == 2 and all(key.startswith("#") for key in moved)


def _are_turned(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Return whether both compare with "than", in opposite directions."""
    mine, other = (_after_than(tokens) for tokens in (ours, theirs))
    if mine is None or other is None or mine == other:
        return False
    return any(one.key == mine for one in theirs) and any(one.key == other for one in ours)


def _after_than(tokens: Sequence[Token]) -> str | None:
    rest = dropwhile(lambda one: one.text != "than", tokens)
    return next((one.key for one in rest if one.has_content), None)
