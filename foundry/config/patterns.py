r"""Rejects identifier patterns that could hang a search, by estimating their cost.

Python's `re` backtracks: `(?:[A-Z]+-?)+\d+` can split n letters in 2^(n-1) ways, and only fails
once it has tried them all. The estimate looks at every choice in a pattern: how often to repeat,
and which alternative to take. If the next character decides, only one way is tried. Otherwise the
ways multiply: a repetition by its length, an alternative by the number of its options. Inside a
repetition, they would multiply with each round, which is rejected unless the choice is final: `a++`
and `(?>a|ab)` are never tried again.

The estimate may be too strict: one non-ASCII character represents all others, and the text after an
assertion is assumed to be anything.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_

from foundry.runtime.retrieval.identifiers import MAX_PATTERN_INPUT

MAX_WAYS = 100_000
"""Limit on the ways to match an input of `MAX_PATTERN_INPUT` characters."""

_TOKEN = re.compile(r"""(?sx)
    (?P<refers> \\[1-9] | \(\?P= | \(\?\( )
    | (?P<place> \\[AbBZz] | [\^$] )
    | (?P<comment> \(\?\#[^)]*\) )
    | (?P<flags> \(\?[a-zA-Z]+\) )
    | (?P<open> \( (?: \? (?: : | > | <?[=!] | P<\w+> | [a-zA-Z-]+: ) )? )
    | (?P<close> \) )
    | (?P<other> \| )
    | (?P<repeat> (?: [*+?] | \{ (?!\}) (?P<least>\d*) (?P<range>,(?P<most>\d*))? \} ) [+?]? )
    | (?P<characters> \[\^?\]?(?:\\.|[^\]\\])*\] | \\x.. | \\u.{4} | \\U.{8} | \\N\{[^}]*\} | \\?. )
    """)

# Non-ASCII samples: letters, four of which are case variants of ASCII letters, a digit, a space, a
# sign.
_SAMPLES = [*map(chr, range(128)), *"\u00e9\u0131\u0130\u212a\u017f\u0663\u2003\u2192"]
_ALL = (1 << len(_SAMPLES)) - 1
_NOT_ASCII = _ALL & ~((1 << 128) - 1)
_NAMES_OTHERS = re.compile(r"[^\x00-\x7f]|\\(?:[0-7uUN]|x[^0-7])")


_TIMES = {"*": (0, MAX_PATTERN_INPUT), "+": (1, MAX_PATTERN_INPUT), "?": (0, 1)}


def check_pattern(pattern: str) -> None:
    """Raise ValueError, with the reason, for an invalid pattern or one that may be slow.

    Patterns whose cost cannot be estimated are also rejected, such as those with back references.
    """
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {pattern!r}: {error}") from None
    try:
        tokens = [*_TOKEN.finditer(pattern)]
        if any(map(_is_final, tokens)) and any(map(_captures, tokens)):
            raise ValueError(
                "Python mishandles some capturing groups in patterns with `++` or `(?>...)`; write"
                " `(?:...)` instead of `(...)`"
            )
        # The whole input must match, so nothing follows the pattern.
        ways = _read(iter(tokens), "").ways(0, in_repeat=False)
        if ways > MAX_WAYS:
            raise ValueError(
                f"{ways:,} ways to match {MAX_PATTERN_INPUT} characters may have to be tried; let"
                " a repetition be followed by a character that it cannot contain"
            )
    except (ValueError, RecursionError) as error:
        raise ValueError(f"may take too long on some queries: {pattern!r}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern; this base class is for parts that match in only one way.

    `first` is a bit set of the characters with which it can begin.
    """

    first: int = 0
    is_nullable: bool = True
    has_repeat: bool = False

    def ways(self, after: int, *, in_repeat: bool) -> int:
        """Return the number of ways to try it, if one of the characters `after` follows.

        Raises ValueError if they would multiply with each round of an outer repetition.
        """
        del after, in_repeat
        return 1


@dataclass(frozen=True, slots=True)
class _Sequence(_Part):
    items: tuple[_Part, ...] = ()

    @classmethod
    def of(cls, items: list[_Part]) -> "_Sequence":
        first, is_nullable = 0, True
        for item in items:
            first |= item.first if is_nullable else 0
            is_nullable = is_nullable and item.is_nullable
        return cls(first, is_nullable, any(item.has_repeat for item in items), tuple(items))

    def ways(self, after: int, *, in_repeat: bool) -> int:
        ways = 1
        # Items are visited backwards, so that the following characters are known.
        for item in reversed(self.items):
            ways *= item.ways(after, in_repeat=in_repeat)
            after = item.first | (after if item.is_nullable else 0)
        return ways


@dataclass(frozen=True, slots=True)
class _Branch(_Part):
    options: tuple[_Part, ...] = ()

    @classmethod
    def of(cls, options: list[_Part]) -> "_Branch":
        return cls(
            reduce(or_, (option.first for option in options)),
            any(option.is_nullable for option in options),
            any(option.has_repeat for option in options),
            tuple(options),
        )

    def ways(self, after: int, *, in_repeat: bool) -> int:
        seen, is_told = 0, sum(option.is_nullable for option in self.options) <= 1
        for option in self.options:
            first = option.first | (after if option.is_nullable else 0)
            is_told = is_told and not seen & first
            seen |= first
        if in_repeat and not is_told:
            raise ValueError(
                "inside a repetition, alternatives begin with the same character, so the number of"
                " ways to try grows exponentially; move the common part before them, or use a set"
            )
        ways = [option.ways(after, in_repeat=in_repeat) for option in self.options]
        return max(ways) if is_told else sum(ways)


@dataclass(frozen=True, slots=True)
class _Final(_Part):
    """An atomic group or an assertion: once matched, no other way is tried."""

    body: _Part = _Part()
    is_assertion: bool = False

    def ways(self, after: int, *, in_repeat: bool) -> int:
        del after
        if in_repeat and self.has_repeat and self.is_assertion:
            raise ValueError("an assertion inside a repetition contains a repetition")
        return self.body.ways(0, in_repeat=False)


@dataclass(frozen=True, slots=True)
class _Repeat(_Part):
    body: _Part = _Part()
    least: int = 0
    rounds: int = 0

    @classmethod
    def of(cls, body: _Part, token: re.Match[str]) -> _Part:
        if token["least"] is None:
            least, most = _TIMES[token[0][0]]
        else:
            least = int(token["least"] or 0)
            most = int(token["most"] or MAX_PATTERN_INPUT) if token["range"] else least
        rounds = min(most, MAX_PATTERN_INPUT)
        has_repeat = rounds > 1 or body.has_repeat
        made = cls(body.first, least == 0 or body.is_nullable, has_repeat, body, least, rounds)
        if _is_final(token):
            return _Final(made.first, made.is_nullable, has_repeat, made)
        return made

    def ways(self, after: int, *, in_repeat: bool) -> int:
        if self.body.is_nullable and self.rounds > 0:
            raise ValueError(
                "a repeated or optional part can be empty, so there are several ways to match it;"
                " let it contain at least one character"
            )
        is_chosen = self.least < self.rounds and bool(self.first & after)
        if is_chosen and in_repeat:
            raise ValueError(
                "inside a repetition, a repeated or optional part can begin with the character that"
                " follows it, so the number of ways to try grows with each round"
            )
        if self.rounds <= 1:
            return self.body.ways(after, in_repeat=in_repeat) * (2 if is_chosen else 1)
        # The next round of the repetition may follow.
        ways = self.body.ways(after | self.first, in_repeat=True)
        if ways > 1:
            ways *= self.rounds
        return ways * (self.rounds - self.least + 1 if is_chosen else 1)


def _is_final(token: re.Match[str]) -> bool:
    is_possessive = token.lastgroup == "repeat" and token[0][1:].endswith("+")
    return is_possessive or token[0] == "(?>"


def _captures(token: re.Match[str]) -> bool:
    return token[0] == "(" or token[0].startswith("(?P<")


def _read(tokens: Iterator[re.Match[str]], flags: str) -> _Part:
    """Parse up to the end of a group, with its `flags`, as in `(?i:`."""
    options: list[list[_Part]] = [[]]
    for token in tokens:
        match token.lastgroup:
            case "close":
                break
            case "other":
                options.append([])
            case "open":
                options[-1].append(_read_group(tokens, token[0], flags))
            case "repeat":
                options[-1].append(_Repeat.of(options[-1].pop(), token))
            case "characters":
                options[-1].append(_Part(_samples(token[0], flags), is_nullable=False))
            case "place":
                options[-1].append(_Part())
            case "flags":
                flags = _add_flags(flags, f"{token[0][:-1]}:")
            case "refers":
                raise ValueError("the cost of a reference to a group cannot be estimated")
    shared: list[_Part] = []
    # In `AB|AC`, the A is not a choice: B and C decide.
    while len(options) > 1 and all(options) and all(each[0] == options[0][0] for each in options):
        shared.append(options[0][0])
        options = [each[1:] for each in options]
    parts: list[_Part] = [*map(_Sequence.of, options)]
    return _Sequence.of([*shared, parts[0] if len(parts) == 1 else _Branch.of(parts)])


def _read_group(tokens: Iterator[re.Match[str]], opened: str, flags: str) -> _Part:
    has_flags = opened.endswith(":") and opened != "(?:"
    body = _read(tokens, _add_flags(flags, opened) if has_flags else flags)
    if opened == "(?>":
        return _Final(body.first, body.is_nullable, body.has_repeat, body)
    if opened.endswith(("=", "!")):
        return _Final(has_repeat=body.has_repeat, body=body, is_assertion=True)
    return body


def _add_flags(flags: str, opened: str) -> str:
    if "x" in opened:
        raise ValueError("the cost of a verbose pattern cannot be estimated; write it without `x`")
    return flags + opened


def _samples(written: str, flags: str) -> int:
    """Return the sample characters that an item matches, as a bit set.

    If the item names a non-ASCII character, all non-ASCII samples are included.
    """
    match = re.compile(flags + written + ")" * flags.count("(")).fullmatch
    found = sum(1 << number for number, sample in enumerate(_SAMPLES) if match(sample))
    return found | _NOT_ASCII if _NAMES_OTHERS.search(written) else found
