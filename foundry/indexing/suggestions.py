"""Chooses headings that people would search for: the start page suggests them.

The same headings check an index, so one that has no others falls back to any heading but
boilerplate.
"""

import re
from collections.abc import Sequence

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


def choose_suggestions(headings: Sequence[str]) -> list[str]:
    """Return the headings that read best as queries, in their order.

    Those of several words come before single words, and both before names that programs have,
    which are only suggested where there is nothing else.
    """
    wanted = [heading for heading in headings if not _is_boilerplate(heading)]
    ordinary = [heading for heading in wanted if not _OF_A_PROGRAM.search(heading)]
    asked = [heading for heading in ordinary if _is_phrase(heading)]
    return asked or ordinary or wanted


def _is_boilerplate(heading: str) -> bool:
    words = _NUMBERED.sub("", heading).strip().casefold()
    return _ENDING.sub("", words) in _BOILERPLATE


def _is_phrase(heading: str) -> bool:
    words = [word for word in heading.split() if any(map(str.isalpha, word))]
    return (len(words) > 1 and not heading.isupper()) or bool(_SPACELESS.search(heading))
