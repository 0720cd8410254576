"""Is a query nothing but an identifier?

`D40`, `30 CFR 75.1725` and `CVE-2024-3095` name one thing; a semantic lane can only blur them,
so such queries are answered by keywords alone.
"""

import re
from collections.abc import Iterable, Sequence

from .tokens import Token

MAX_PATTERN_INPUT = 200
"""Characters of a query that the owner's own patterns are tried on."""


def compile_patterns(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Compile the owner's identifier patterns. Raises ValueError, naming the bad pattern."""
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern))
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"not a regular expression: {pattern!r}: {error}") from None
    return tuple(compiled)


def is_identifier_query(
    query: str, tokens: Sequence[Token], patterns: Sequence[re.Pattern[str]] = ()
) -> bool:
    """True if every meaningful token is an identifier, or stands beside one and may belong to it.

    Meaningful tokens are those with index terms. A query or token that one of `patterns` matches
    from end to end is an identifier too.
    """
    trimmed = query.strip()
    if len(trimmed) > MAX_PATTERN_INPUT:
        return False
    if any(pattern.fullmatch(trimmed) for pattern in patterns):
        return True
    found = False
    for token in tokens:
        if not token.terms:
            continue
        if token.is_identifier or any(pattern.fullmatch(token.text) for pattern in patterns):
            found = True
        elif not token.may_accompany:
            return False
    return found
