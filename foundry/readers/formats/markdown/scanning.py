"""Scans Markdown for tags of HTML, JSX and Vue.

The scan only moves forward, and every quantifier is possessive and bounded, so time is linear.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from foundry.readers.formats.markdown.edits import Edits

MAX_ATTRIBUTES = 60
MAX_EXPRESSION_CHARS = 5_000
_START = re.compile(r"<(?<!\\<)(/?)([A-Za-z][\w.-]{0,60}+)?")
_ATTRIBUTE = re.compile(
    r"\s{1,200}+(?:([A-Za-z_@:#][\w:.@-]{0,60}+)(?:\s{0,9}+=\s{0,9}+"
    r"(?:\"([^\"]{0,3000}+)\"|'([^']{0,3000}+)'|([^\s\"'=<>`{}]{1,500}+)|(?=(\{))))?+|(?=(\{)))"
)
_END = re.compile(r"\s{0,200}+(/?)>")
_BRACE = re.compile(r"[{}]")
_STRING = re.compile(r"\{\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`$]*)`)\s*\}")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag at `start:end`; attributes without a value have an empty one."""

    start: int
    end: int
    name: str
    attributes: Mapping[str, str]
    is_closing: bool = False
    is_empty: bool = False


def scan(edits: Edits) -> Iterator[Tag]:
    """Yield the tags in the text that is not masked."""
    mask, text = edits.mask, edits.text
    position = hopeless = 0
    while (match := _START.search(mask, position)) is not None:
        position = match.end()
        attributes: dict[str, str] = {}
        for _ in range(MAX_ATTRIBUTES):
            found = _ATTRIBUTE.match(mask, position) if match[2] else None
            if found is None:
                break
            position = found.end()
            value = next(
                (text[slice(*found.span(g))] for g in (2, 3, 4) if found[g] is not None), ""
            )
            if found[5] or found[6]:
                end = _closing_brace(mask, position) if position >= hopeless else None
                if end is None:
                    # Searches that begin before this point would also fail to find the end.
                    hopeless = max(hopeless, position + MAX_EXPRESSION_CHARS)
                    break
                string = _STRING.fullmatch(text, position, end)
                value = next(filter(None, string.groups()), "") if string else "{}"
                position = end
            if found[1]:
                attributes.setdefault(found[1], value)
        ending = _END.match(mask, position)
        if ending:
            position = ending.end()
            name = match[2] or ""
            yield Tag(match.start(), position, name, attributes, bool(match[1]), bool(ending[1]))


def _closing_brace(mask: str, start: int) -> int | None:
    depth = 0
    for match in _BRACE.finditer(mask, start, start + MAX_EXPRESSION_CHARS):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return None
