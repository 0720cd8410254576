"""Identifiers in queries: which tokens are identifiers, and whether a query is nothing but one.

`D40`, `30 CFR 75.1725` and `CVE-2024-3095` name one thing; a semantic lane can only blur them,
so such queries are answered by keywords alone.
"""

import re
from collections.abc import Iterable, Sequence

from .pattern_cost import check_cost
from .tokens import Token

_OPTION = re.compile(r"(?:--?|/)[A-Za-z][\w:+.-]*")

MAX_PATTERN_INPUT = 200
"""Characters of a query that the owner's own patterns are tried on."""


def compile_patterns(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Compile the owner's identifier patterns.

    Raises ValueError, naming the pattern, for what is none and for what could hang a search.
    """
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern))
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"not a regular expression: {pattern!r}: {error}") from None
        try:
            check_cost(pattern, MAX_PATTERN_INPUT)
        except ValueError as error:
            raise ValueError(f"may take too long on some queries: {pattern!r}: {error}") from None
    return tuple(compiled)


def is_identifier_query(
    query: str, tokens: Sequence[Token], patterns: Sequence[re.Pattern[str]] = ()
) -> bool:
    """True if every meaningful token is an identifier, or stands beside one and may belong to it.

    Meaningful tokens are those with index terms. A query or token that one of `patterns` matches
    from end to end is an identifier too, and so is a query like `--verbose` or `/Zi`.
    """
    trimmed = query.strip()
    if len(trimmed) > MAX_PATTERN_INPUT:
        return False
    if is_written_identifier(trimmed, patterns):
        return True
    found = False
    for token in tokens:
        if not token.terms:
            continue
        if is_identifier(token, patterns):
            found = True
        elif not token.may_accompany:
            return False
    return found


def is_written_identifier(query: str, patterns: Sequence[re.Pattern[str]] = ()) -> bool:
    """Return whether a query as it is written is an option, or what one of `patterns` matches."""
    trimmed = query.strip()
    is_short = len(trimmed) <= MAX_PATTERN_INPUT
    return is_short and any(pattern.fullmatch(trimmed) for pattern in (_OPTION, *patterns))


def find_identifiers(
    tokens: Iterable[Token], patterns: Sequence[re.Pattern[str]] = ()
) -> list[Token]:
    """The tokens that are identifiers, each with at least one term."""
    return [token for token in tokens if token.terms and is_identifier(token, patterns)]


def whole_terms(token: Token) -> tuple[str, ...]:
    """Return the terms of an identifier that stand for the whole of it, not for a part."""
    # What only the owner's patterns know has no term of its own.
    return token.terms[:1] if token.is_identifier else token.terms


def identifier_share(tokens: Iterable[Token], patterns: Sequence[re.Pattern[str]] = ()) -> float:
    """The share of identifiers among the meaningful tokens, 0 to 1; 0 if there are none.

    What may accompany an identifier belongs to one that it stands beside: `30 CFR 75.1725` is three
    tokens of an identifier.
    """
    meaningful = [token for token in tokens if token.terms]
    belonging = 0
    run: list[bool] = []
    for token in (*meaningful, None):
        if token is not None and (is_identifier(token, patterns) or token.may_accompany):
            run.append(is_identifier(token, patterns))
            continue
        belonging += len(run) if any(run) else 0
        run = []
    return belonging / len(meaningful) if meaningful else 0.0


def is_identifier(token: Token, patterns: Sequence[re.Pattern[str]]) -> bool:
    """Return whether a token is an identifier by its form, or by one of `patterns`."""
    if token.is_identifier:
        return True
    is_short = len(token.text) <= MAX_PATTERN_INPUT
    return is_short and any(pattern.fullmatch(token.text) for pattern in patterns)
