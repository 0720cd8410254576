"""Refuses identifier patterns that could hang a search: reads off a pattern what it may cost.

Python's `re` tries one way after the other: `(?:[A-Z]+-?)+\\d+` has 2^n ways to cut n letters, and
fails only when all are tried. Here every place of choice (how often to repeat, which alternative to
take) is looked at. Where the next character tells which way is right, there is nothing to try.
Where it does not, the ways multiply: those of a repetition by its length, those of an alternative
by their number. Within a repetition they would multiply with each round; that is refused.

The estimate errs on the side of refusing: a character that is not ASCII stands for all others, and
what is behind an assertion counts as possible.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

from foundry.runtime.retrieval.identifiers import MAX_PATTERN_INPUT

codes: Any = re._constants  # type: ignore[attr-defined]
parser: Any = re._parser  # type: ignore[attr-defined]
compiler: Any = re._compiler  # type: ignore[attr-defined]

MAX_WAYS = 100_000
"""Ways in which a pattern may match an input of `MAX_PATTERN_INPUT` characters."""

# Of what is not ASCII: letters, four of them other cases of ASCII's, a digit, a space, a sign.
_SAMPLES = [*map(chr, range(128)), *"\u00e9\u0131\u0130\u212a\u017f\u0663\u2003\u2192"]
_ALL = (1 << len(_SAMPLES)) - 1
_NOT_ASCII = _ALL & ~((1 << 128) - 1)

_ASSERTIONS = (codes.ASSERT, codes.ASSERT_NOT)
_CHARACTERS = (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern: the samples it can begin with, as bits, and its ways to match."""

    first: int = 0
    is_nullable: bool = True
    ways: int = 1
    has_repeat: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """The surroundings of a part: the flags there, and whether it lies in a repetition.

    `firsts` keeps what each repeated part can begin with, which is found by going through it.
    """

    flags: int
    in_repeat: bool = False
    firsts: dict[int, int] = field(default_factory=dict)


def check_pattern(pattern: str) -> None:
    """Raise ValueError, with the reason, for an invalid pattern and for one that may take long.

    That includes one whose cost cannot be estimated, such as a reference to a group.
    """
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {pattern!r}: {error}") from None
    tree = parser.parse(pattern)
    try:
        # A pattern is matched from end to end, so that nothing follows.
        ways = _sequence(tree, 0, _Place(tree.state.flags)).ways
        if ways > MAX_WAYS:
            raise ValueError(
                f"{ways:,} ways to match {MAX_PATTERN_INPUT} characters may have to be tried; let"
                " what follows a repetition begin with a character that it cannot contain"
            )
    except ValueError as error:
        raise ValueError(f"may take too long on some queries: {pattern!r}: {error}") from None


def _sequence(items: Sequence[Any], after: int, place: _Place) -> _Part:
    """Return the part that `items` make where one of the characters `after` follows.

    They are gone through from the end, so that what follows each of them is known.
    """
    whole = _Part()
    for code, value in reversed(list(items)):
        follow = whole.first | (after if whole.is_nullable else 0)
        part = _item(code, value, follow, place)
        whole = _Part(
            part.first | (whole.first if part.is_nullable else 0),
            part.is_nullable and whole.is_nullable,
            part.ways * whole.ways,
            part.has_repeat or whole.has_repeat,
        )
    return whole


def _item(code: Any, value: Any, after: int, place: _Place) -> _Part:
    if code in _CHARACTERS:
        return _Part(_characters(code, value, place.flags), is_nullable=False)
    if code is codes.AT:
        return _Part()
    if code is codes.SUBPATTERN:
        _, added, removed, items = value
        return _sequence(items, after, replace(place, flags=(place.flags | added) & ~removed))
    if code is codes.ATOMIC_GROUP:
        return _sequence(value, after, place)
    if code is codes.BRANCH:
        return _branch([_sequence(items, after, place) for items in value[1]], after, place)
    if code in _REPEATS:
        least, most, items = value
        return _repeat(least, most, items, after, place)
    if code in _ASSERTIONS:
        inner = _sequence(value[1], _ALL, place)
        if place.in_repeat and inner.has_repeat:
            raise ValueError("an assertion within a repetition repeats something itself")
        return _Part(ways=inner.ways, has_repeat=inner.has_repeat)
    raise ValueError(f"how long {str(code).lower()} takes cannot be told; write it another way")


def _branch(parts: Sequence[_Part], after: int, place: _Place) -> _Part:
    seen, is_told = 0, sum(part.is_nullable for part in parts) <= 1
    for part in parts:
        first = part.first | (after if part.is_nullable else 0)
        is_told = is_told and not seen & first
        seen |= first
    if place.in_repeat and not is_told:
        raise ValueError(
            "within a repetition, alternatives begin with the same character, so that the ways"
            " to try double with each round; put what they share before them"
        )
    ways = [part.ways for part in parts]
    return _Part(
        reduce(or_, (part.first for part in parts)),
        any(part.is_nullable for part in parts),
        max(ways) if is_told else sum(ways),
        any(part.has_repeat for part in parts),
    )


def _repeat(least: int, most: int, items: Sequence[Any], after: int, place: _Place) -> _Part:
    rounds = min(int(most), MAX_PATTERN_INPUT)
    inside = replace(place, in_repeat=place.in_repeat or rounds > 1)
    if rounds > 1:
        if id(items) not in place.firsts:
            place.firsts[id(items)] = _sequence(items, 0, inside).first
        # What a round begins with may follow one as well.
        body = _sequence(items, after | place.firsts[id(items)], inside)
    else:
        body = _sequence(items, after, inside)
    if body.is_nullable and most > 0:
        raise ValueError(
            "what is repeated or optional can be empty, which is matched in more ways than one"
        )
    is_chosen = least < rounds and bool(body.first & after)
    if is_chosen and place.in_repeat:
        raise ValueError(
            "within a repetition, a repetition or an option may be followed by what it can"
            " begin with, so that the ways to try multiply with each round"
        )
    ways = body.ways * (rounds - least + 1 if is_chosen else 1)
    return _Part(body.first, least == 0 or body.is_nullable, ways, rounds > 1 or body.has_repeat)


def _characters(code: Any, value: Any, flags: int) -> int:
    """Return the samples that a single item matches, and all others if it names one of these."""
    item = parser.SubPattern(parser.State(), [(code, value)])
    match = compiler.compile(item, flags).fullmatch
    found = sum(1 << number for number, sample in enumerate(_SAMPLES) if match(sample))
    return found if _is_ascii(value) else found | _NOT_ASCII


def _is_ascii(value: Any) -> bool:
    """Return whether numbers, which may lie in lists, are all below 128."""
    return value < 128 if isinstance(value, int) else all(map(_is_ascii, value or ()))
