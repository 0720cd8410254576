"""Chooses headings that people would search for: the start page suggests them.

The same headings check an index, so one that has no others falls back to any heading but
boilerplate.
"""

import re
from enum import IntEnum

_BOILERPLATE = frozenset(
    {
        "authors",
        "changelog",
        "code of conduct",
        "contents",
        "contributing",
        "copyright",
        "index",
        "license",
        "licence",
        "notice",
        "readme",
        "release notes",
        "table of contents",
    }
)
_NUMBERED = re.compile(r"^\W*(?:\d+[.)]\s*)+")
_ENDING = re.compile(r"\.(?:md|mdx|txt|rst|html)$")
# Names of modules, functions, files and options: `a.b`, `a_b`, `a/b`, `f()`, `--name`, `FooBar`.
_OF_A_PROGRAM = re.compile(
    r"[^\W\d][.:/\\]+[^\W\d]|[^\W\d]_|_[^\W\d]|[()\[\]{}<>=`$@|]|(?:^|\s)--?\w|[a-z][A-Z]\w|[A-Z]{2}[a-z]{2}"
)
# Of scripts that are written without spaces.
_SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{3}")


class Kind(IntEnum):
    """How well a heading reads as a query: the higher, the better."""

    UNWANTED = 0
    OF_A_PROGRAM = 1
    WORD = 2
    PHRASE = 3


def kind_of(heading: str) -> Kind:
    """Return how a heading reads: several words before single ones, both before names that programs
    have, and what is boilerplate not at all."""
    if _is_boilerplate(heading):
        return Kind.UNWANTED
    if _OF_A_PROGRAM.search(heading):
        return Kind.OF_A_PROGRAM
    return Kind.PHRASE if _is_phrase(heading) else Kind.WORD


def _is_boilerplate(heading: str) -> bool:
    words = _NUMBERED.sub("", heading).strip().casefold()
    return _ENDING.sub("", words) in _BOILERPLATE


def _is_phrase(heading: str) -> bool:
    words = [word for word in heading.split() if any(map(str.isalpha, word))]
    return (len(words) > 1 and not heading.isupper()) or bool(_SPACELESS.search(heading))
