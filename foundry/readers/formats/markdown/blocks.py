"""Find the blocks of Markdown by markdown-it's rules, passing over plain paragraphs.

Trying its rules one by one on every line takes most of the time of reading Markdown. Most lines can
only begin a paragraph, and of paragraphs only tables matter.
"""

import re
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, heading
from markdown_it.token import Token

MAX_BLOCK_DEPTH = 12

# What begins a line that may be more than one of a paragraph: a heading or what underlines one, a
# quotation, HTML, a fence, an item of a list, a rule.
_SPECIAL = r"[#<>]|\$\$|```|~~~|(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t\n]|\Z)|[-*_=][-*_= \t]*+(?:\n|\Z)"
# MyST labels formulas behind them.
_FORMULA_END = re.compile(r"\$\$[ \t]*(?:\([^()\n]{1,100}+\)[ \t]*)?(?=\n|\Z)")
MAX_FORMULA_CHARS = 5_000
# Links are defined where no paragraph is open.
_BEGINS_OTHER = re.compile(rf"{_SPECIAL}|\[(?:[^\[\]\\]|\\.)*+\]:", re.DOTALL)
_PARAGRAPH_END = re.compile(rf"\n[ \t]*+(?:(?P<special>{_SPECIAL})|\n|\Z)")


class Parsed(NamedTuple):
    """The blocks of a text, and the links that it defines, as the parser gives them.

    There is no token of a paragraph but an `inline` one where there may be a table, and no content
    of `inline` tokens is parsed.
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
        # Nothing else begins with its sign, and many lines are headings.
        rules.before("code", "heading first", heading)

    def parse(self, text: str) -> Parsed:
        """Return the blocks of a text."""
        environment: dict[str, Any] = {}
        return Parsed(self._parser.parse(text, environment), environment)


def _pass_over(state: StateBlock, start: int, _end: int, _silent: bool) -> bool:
    """Skip to the end of a paragraph whose lines can be nothing else."""
    source, begin = state.src, state.bMarks[start] + state.tShift[start]
    # A rule that this is left to takes all up to where the search below has ended, or more: no line
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
    """Take lines from `$$` to `$$`: an equals sign alone on one of them underlines no heading."""
    source, begin = state.src, state.bMarks[start] + state.tShift[start]
    if not source.startswith("$$", begin) or state.is_code_block(start):
        return False
    # Where the last search has ended, so that no text is searched twice.
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
