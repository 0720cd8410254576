"""Refuses identifier patterns that could hang a search: reads off a pattern what it may cost.

Python's `re` tries one way after the other: `(?:[A-Z]+-?)+\\d+` has 2^n ways to cut n letters, and
fails only when all are tried. Here every place of choice (how often to repeat, which alternative to
take) is looked at. Where the next character tells which way is right, there is nothing to try.
Where it does not, the ways multiply: those of a repetition by its length, those of an alternative
by their number. Within a repetition they would multiply with each round; that is refused.

The estimate errs on the side of refusing: a character that is not ASCII stands for all of its kind,
and what is behind an assertion counts as possible.
"""

import re
from dataclasses import dataclass
from typing import Any

from foundry.runtime.retrieval.identifiers import MAX_PATTERN_INPUT

codes: Any = re._constants  # type: ignore[attr-defined]
parser: Any = re._parser  # type: ignore[attr-defined]

MAX_WAYS = 100_000
"""Of a pattern, over an input of `longest` characters."""

_WORD, _DIGIT, _SPACE, _OTHER = (1 << bit for bit in range(128, 132))
"""Characters that are not ASCII, by kind."""

_ALL = (1 << 132) - 1
_CATEGORIES = {
    codes.CATEGORY_DIGIT: (r"\d", _DIGIT),
    codes.CATEGORY_SPACE: (r"\s", _SPACE),
    codes.CATEGORY_WORD: (r"\w", _WORD | _DIGIT),
}
_NEGATIONS = {
    codes.CATEGORY_NOT_DIGIT: codes.CATEGORY_DIGIT,
    codes.CATEGORY_NOT_SPACE: codes.CATEGORY_SPACE,
    codes.CATEGORY_NOT_WORD: codes.CATEGORY_WORD,
}
_ASSERTIONS = (codes.ASSERT, codes.ASSERT_NOT)
_CHARACTERS = (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY, codes.RANGE)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


@dataclass(frozen=True, slots=True)
class _Part:
    """The first characters of a part of a pattern, whether it can be empty, and its ways."""

    first: int
    is_nullable: bool
    ways: int
    has_repeat: bool = False


def check_pattern(pattern: str) -> None:
    """Raise ValueError, with the reason, for what is no pattern and for what may take long.

    Also for what cannot be estimated, such as a reference to a group.
    """
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {pattern!r}: {error}") from None
    try:
        _check_cost(pattern, MAX_PATTERN_INPUT)
    except ValueError as error:
        raise ValueError(f"may take too long on some queries: {pattern!r}: {error}") from None


def _check_cost(pattern: str, longest: int) -> None:
    tree = parser.parse(pattern)
    # A pattern is matched from end to end, so that nothing follows.
    part = _Estimate(longest).sequence(list(tree), 0, tree.state.flags, in_repeat=False)
    if part.ways > MAX_WAYS:
        raise ValueError(
            f"{part.ways:,} ways to match {longest} characters may have to be tried; let what"
            " follows a repetition begin with a character that it cannot contain"
        )


class _Estimate:
    """Walks through a parsed pattern from its end, so that what follows a part is known."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def sequence(self, items: list[Any], after: int, flags: int, *, in_repeat: bool) -> _Part:
        """Return the part that `items` make where one of the characters `after` follows."""
        whole = _Part(0, True, 1)
        for code, value in reversed(items):
            follow = whole.first | (after if whole.is_nullable else 0)
            part = self._item(code, value, follow, flags, in_repeat)
            whole = _Part(
                part.first | (whole.first if part.is_nullable else 0),
                part.is_nullable and whole.is_nullable,
                part.ways * whole.ways,
                part.has_repeat or whole.has_repeat,
            )
        return whole

    def _item(self, code: Any, value: Any, after: int, flags: int, in_repeat: bool) -> _Part:
        if code in _CHARACTERS:
            return _Part(_characters(code, value, flags), False, 1)
        if code is codes.AT:
            return _Part(0, True, 1)
        if code is codes.SUBPATTERN:
            _, added, removed, items = value
            flags = (flags | added) & ~removed
            return self.sequence(list(items), after, flags, in_repeat=in_repeat)
        if code is codes.ATOMIC_GROUP:
            return self.sequence(list(value), after, flags, in_repeat=in_repeat)
        if code is codes.BRANCH:
            return self._branch(value[1], after, flags, in_repeat)
        if code in _REPEATS:
            least, most, items = value
            return self._repeat(int(least), int(most), list(items), after, flags, in_repeat)
        if code in _ASSERTIONS:
            inner = self.sequence(list(value[1]), _ALL, flags, in_repeat=in_repeat)
            if in_repeat and inner.has_repeat:
                raise ValueError("an assertion within a repetition repeats something itself")
            return _Part(0, True, inner.ways, inner.has_repeat)
        raise ValueError(f"how long {str(code).lower()} takes cannot be told; write it another way")

    def _branch(self, branches: list[Any], after: int, flags: int, in_repeat: bool) -> _Part:
        parts = [
            self.sequence(list(items), after, flags, in_repeat=in_repeat) for items in branches
        ]
        seen, is_told = 0, sum(part.is_nullable for part in parts) <= 1
        for part in parts:
            first = part.first | (after if part.is_nullable else 0)
            is_told = is_told and not seen & first
            seen |= first
        if in_repeat and not is_told:
            raise ValueError(
                "within a repetition, alternatives begin with the same character, so that the ways"
                " to try double with each round; put what they share before them"
            )
        ways = [part.ways for part in parts]
        first = 0
        for part in parts:
            first |= part.first
        return _Part(
            first,
            any(part.is_nullable for part in parts),
            max(ways) if is_told else sum(ways),
            any(part.has_repeat for part in parts),
        )

    def _repeat(
        self,
        least: int,
        most: int,
        items: list[Any],
        after: int,
        flags: int,
        in_repeat: bool,
    ) -> _Part:
        rounds = min(most, self._longest)
        is_inside = in_repeat or rounds > 1
        # What a round begins with may follow one as well.
        first = _first(items, flags)[0] if rounds > 1 else 0
        body = self.sequence(items, after | first, flags, in_repeat=is_inside)
        if body.is_nullable and most > 0:
            raise ValueError(
                "what is repeated or optional can be empty, which is matched in more ways than one"
            )
        is_chosen = least < rounds and bool(body.first & after)
        if is_chosen and in_repeat:
            raise ValueError(
                "within a repetition, a repetition or an option may be followed by what it can"
                " begin with, so that the ways to try multiply with each round"
            )
        ways = body.ways * (rounds - least + 1 if is_chosen else 1)
        is_nullable = least == 0 or body.is_nullable
        return _Part(body.first, is_nullable, ways, has_repeat=rounds > 1 or body.has_repeat)


def _first(items: list[Any], flags: int) -> tuple[int, bool]:
    """Return what a sequence can begin with, and whether it can be empty."""
    found = 0
    for code, value in items:
        branches, inner, may_be_left_out = [], flags, code in (codes.AT, *_ASSERTIONS)
        if code is codes.SUBPATTERN:
            branches, inner = [value[3]], (flags | value[1]) & ~value[2]
        elif code is codes.ATOMIC_GROUP:
            branches = [value]
        elif code is codes.BRANCH:
            branches = value[1]
        elif code in _REPEATS:
            branches, may_be_left_out = [value[2]], value[0] == 0
        elif code in _CHARACTERS:
            found |= _characters(code, value, flags)
        for first, is_nullable in (_first(list(branch), inner) for branch in branches):
            found |= first
            may_be_left_out |= is_nullable
        if not may_be_left_out:
            return found, False
    return found, True


def _characters(code: Any, value: Any, flags: int) -> int:
    """Return the characters that a single item matches, one bit for each: ASCII, then four other
    kinds."""
    if code is codes.ANY:
        return _ALL
    if code is codes.NOT_LITERAL:
        found = _range(value, value, flags)
        return _ALL & ~(found & (1 << 128) - 1)
    if code is codes.LITERAL:
        return _range(value, value, flags)
    if code is codes.RANGE:
        return _range(value[0], value[1], flags)
    found, is_negated = 0, False
    for inner, detail in value:
        if inner is codes.NEGATE:
            is_negated = True
        elif inner is codes.CATEGORY:
            found |= _category(detail, flags)
        else:
            found |= _characters(inner, detail, flags)
    if not is_negated:
        return found
    # Of a kind that is not ASCII some characters may be meant, and the others are left.
    whole_kinds = [_category(d, flags) for inner, d in value if inner is codes.CATEGORY]
    removed = found & (1 << 128) - 1
    for kinds in whole_kinds:
        removed |= kinds
    return _ALL & ~removed


def _category(category: Any, flags: int) -> int:
    if category in _NEGATIONS:
        return _ALL & ~_category(_NEGATIONS[category], flags)
    pattern, others = _CATEGORIES[category]
    kind = re.compile(pattern, flags & re.ASCII)
    ascii_only = sum(1 << number for number in range(128) if kind.match(chr(number)))
    return ascii_only if flags & re.ASCII else ascii_only | others


def _range(low: int, high: int, flags: int) -> int:
    found = sum(1 << number for number in range(low, min(high, 127) + 1))
    if high > 127:
        # Which kinds lie in a range need not be known.
        found |= _WORD | _DIGIT | _SPACE | _OTHER
    if flags & re.IGNORECASE:
        letters = [chr(number) for number in range(128) if found >> number & 1]
        for letter in letters:
            found |= 1 << ord(letter.lower()) | 1 << ord(letter.upper())
        # The Kelvin sign and the long s are letters of ASCII in another case, and the reverse.
        found |= _WORD if letters else 0
        found |= sum(1 << ord(letter) for letter in "ikIKsS") if high > 127 else 0
    return found
