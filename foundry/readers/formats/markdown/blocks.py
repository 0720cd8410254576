"""Finds the blocks of Markdown by markdown-it's rules, skipping plain paragraphs.

Trying all rules on every line takes most of the time of reading Markdown. Most lines can only begin
a paragraph, and paragraphs only matter if they may be tables.
"""

import re
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, heading
from markdown_it.token import Token

MAX_BLOCK_DEPTH = 12

# Line beginnings that may be more than a paragraph: a heading or its underline, a quotation, HTML,
# a fence, a list item, a rule.
_SPECIAL = r"[#<>]|\$\$|```|~~~|(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t\n]|\Z)|[-*_=][-*_= \t]*+(?:\n|\Z)"
# In MyST, a formula's label follows its end.
_FORMULA_END = re.compile(r"\$\$[ \t]*(?:\([^()\n]{1,100}+\)[ \t]*)?(?=\n|\Z)")
MAX_FORMULA_CHARS = 5_000
# Link definitions cannot interrupt a paragraph.
_BEGINS_OTHER = re.compile(rf"{_SPECIAL}|\[(?:[^\[\]\\]|\\.)*+\]:", re.DOTALL)
_PARAGRAPH_END = re.compile(rf"\n[ \t]*+(?:(?P<special>{_SPECIAL})|\n|\Z)")


class Parsed(NamedTuple):
    """The blocks of a text, and its link definitions, as the parser returns them.

    A paragraph only has an `inline` token if it may contain a table, and the content of `inline`
    tokens is not parsed.
    """

    tokens: list[Token]
    environment: dict[str, Any]


class BlockParser:
    """Parses blocks by CommonMark's rules, except those `disabled`."""

    def __init__(self, *disabled: str) -> None:
        self._parser = MarkdownIt("commonmark", {"maxNesting": MAX_BLOCK_DEPTH})
        self._parser.disable(["inline", "text_join", *disabled])
        rules = self._parser.block.ruler
        rules.before("code", "plain", _pass_over)
        rules.before("plain", "formula", _formula, {"alt": ["paragraph", "reference"]})
        # Checked first, since many lines are headings; no other rule matches a line with `#`.
        rules.before("code", "heading first", heading)

    def parse(self, text: str) -> Parsed:
        """Return the blocks of a text."""
        environment: dict[str, Any] = {}
        return Parsed(self._parser.parse(text, environment), environment)


def _pass_over(state: StateBlock, start: int, _end: int, _silent: bool) -> bool:
    """Skip to the end of a text that can only be a paragraph."""
    source, begin = state.src, state.bMarks[start] + state.tShift[start]
    # The paragraph rule consumes at least everything up to the end of the search below, so no line
    # is searched twice.
    if state.is_code_block(start) or _BEGINS_OTHER.match(source, begin):
        return False
    found = _PARAGRAPH_END.search(source, begin)
    end = found.start() if found else len(source)
    line = start + 1 + source.count("\n", begin, end)
    if (found and found["special"]) or line > state.lineMax:
        return False
    state.line = line
    if source.find("|", begin, end) >= 0:
        token = state.push("inline", "", 0)
        token.content = state.getLines(start, line, state.blkIndent, False).strip()
        token.map = [start, line]
    return True


def _formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Consume lines from `$$` to `$$`, where a lone equals sign does not underline a heading."""
    source, begin = state.src, state.bMarks[start] + state.tShift[start]
    if not source.startswith("$$", begin) or state.is_code_block(start):
        return False
    # The last search is remembered, so that no text is searched twice.
    since, closing = state.env.get("formula end", (0, -1))
    if not since <= begin + 2 <= closing:
        found = _FORMULA_END.search(source, begin + 2)
        closing = found.start() if found else len(source)
        state.env["formula end"] = begin + 2, closing
    line = start + source.count("\n", begin, min(closing, begin + MAX_FORMULA_CHARS))
    if line == start or line >= end or not source.startswith("$$", closing):
        return False
    if closing - begin > MAX_FORMULA_CHARS:
        return False
    if not silent:
        state.line = line + 1
        token = state.push("math_block", "", 0)
        token.map = [start, line + 1]
    return True
