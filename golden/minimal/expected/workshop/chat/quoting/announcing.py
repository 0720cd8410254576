"""Decides whether a sentence announces the block below it."""

import re
from collections.abc import Callable

from .blocks import Block, Paragraph, introduces

_FORMULA = re.compile(r"\$\$|\\\[|\\begin\{")
# Sentences that announce a list or a table although they end with a full stop
_ANNOUNCES = re.compile(
    r"\b(?:following|follows|below|these|two|three|four|five|six|seven|eight|several|folgend\w*"
    r"|suivante?s?|siguientes?)\b",
    re.IGNORECASE,
)


def announces(text: str, ends_open: Callable[[str], bool]) -> bool:
    """Return whether a sentence announces the list or table below it."""
    return ends_open(text) or _ANNOUNCES.search(text) is not None


def goes_on(text: str, following: Block | None) -> bool:
    """Return whether a sentence ends in a colon, or goes on in the formula below it."""
    is_formula = isinstance(following, Paragraph) and _FORMULA.match(following.text.lstrip())
    return ends_with_colon(text) or (bool(is_formula) and introduces(text))


def ends_with_colon(text: str) -> bool:
    """Return whether a text ends with a colon."""
    return text.endswith((":", "\uff1a"))
