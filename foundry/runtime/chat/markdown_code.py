"""Finds code in Markdown that arrives line by line, according to CommonMark 0.31.

Only text that is certainly code counts as code, since code is not disarmed: code spans that end in
their line, and fenced blocks whose end is known. After a fence whose container is ambiguous,
nothing counts as code.
"""

import re
import sys
from dataclasses import dataclass

MAX_LINE, MAX_SPAN = 4_000, 400  # Characters; longer code is treated as text.

# A carriage return at the end of the input does not count, because a line feed may follow.
LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")

_QUOTE = re.compile(r"(?: {0,3}> ?)*")
_SPACES = re.compile(r" *")
_ITEM = re.compile(r"(?:[-*+]|(?P<number>[0-9]{1,9})[.)])(?P<gap> +)(?=\S)")
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$")
_FENCE = re.compile(r"(?:`{3,}(?=[^`]*$)|~{3,})")
_ANY_FENCE = re.compile(rf"(?:[ \t>]|[-*+](?=[ \t])|[0-9]{{1,9}}[.)](?=[ \t]))*{_FENCE.pattern}")
_ESCAPE_OR_TICKS = re.compile(r"\\[!-/:-@\[-`{-~]|`+")
_TICKS = re.compile(r"`+")

Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open code fence: its mark, the quotation prefix of its lines, and its indent."""

    mark: str
    quote: str
    indent: int
    base: int  # The column at which the content of its list item begins


class CodeTracker:
    """Finds the code in the lines of a text, which are read in order."""

    def __init__(self) -> None:
        self._fence: _Fence | None = None
        self._is_unsure = False
        self._is_torn = False  # A code span may have begun in an earlier line of the paragraph
        self._is_after_blank = True
        # Content columns of the list items that are certainly open.
        self._items: list[int] = []
        self._quote = ""
        self._begin_line()

    def _begin_line(self) -> None:
        self._found: Spans = []
        self._place, self._is_row, self._is_open = 0, False, False

    def read(self, line: str, *, is_whole: bool) -> tuple[Spans, int]:
        """Return the code spans in the line so far, and the offset before which they are final."""
        end = len(line)
        if self._is_unsure:
            return [], end
        if self._fence is not None:
            return ([(0, end)] if self._holds(self._fence, line) else []), end
        if fence := _ANY_FENCE.match(line, 0, MAX_LINE):
            if fence[0].endswith("`") and not is_whole and end <= MAX_LINE:
                return [], line.index("`")  # A further backtick would make this a code span.
            return ([(0, end)] if self._opened(line) else []), end
        return ([], end) if self._is_torn else self._spans(line, is_whole=is_whole)

    def end_line(self, line: str) -> None:
        """Finish a line; anything after MAX_LINE characters is ignored."""
        line = line[: MAX_LINE + 1]
        if self._fence is not None:
            goes_on = self._holds(self._fence, line)
            self._is_unsure |= goes_on is None
            self._fence = self._fence if goes_on else None
            return
        if _ANY_FENCE.match(line, 0, MAX_LINE):
            self._fence = self._opened(line)
            self._is_unsure |= self._fence is None
        is_blank = not line.strip(" \t")
        is_over = is_blank or self._fence is not None
        self._spans(line, is_whole=True)
        self._is_torn = not is_over and (self._is_torn or self._is_open or len(line) > MAX_LINE)
        self._begin_line()
        if not is_blank:
            self._quote, _, self._items = self._containers(line)
        self._is_after_blank = is_blank

    def _spans(self, line: str, *, is_whole: bool) -> tuple[Spans, int]:
        """Return the spans of a line so far, and the place up to which the line has been read."""
        while begun := _ESCAPE_OR_TICKS.search(line, self._place):
            limit = min(begun.start() + MAX_SPAN, MAX_LINE)
            if begun[0].startswith("\\"):
                self._place = begun.end()
                continue
            ticks = _TICKS.finditer(line, begun.end(), max(begun.end(), limit + 1))
            ends = (each.end() for each in ticks if each[0] == begun[0])
            last = next((end for end in ends if is_whole or end < len(line)), limit + 1)
            if last <= limit:
                # In a table row, a span ends with its cell.
                self._is_row |= "|" in line[begun.end() : last]
                self._found += [] if self._is_row else [(begun.start(), last)]
                self._place = last
            elif len(line) > limit:
                # The end of the span may still arrive.
                self._place, self._is_open = sys.maxsize, True
            elif not is_whole:
                return self._found, begun.start()
            else:
                self._place, self._is_open = begun.end(), True
        return self._found, len(line)

    def _containers(self, line: str) -> tuple[str, int, list[int]]:
        """Return a line's quote prefix, the indent after it, and the list items that it is in.

        The indent is -1 if it is unclear. Items are given as the columns of their content.
        """
        quote = _QUOTE.match(line)
        start = quote.end() if quote else 0
        prefix, rest = line[:start], line[start:]
        before = self._items if prefix == self._quote else []
        indent = _indent(rest)
        items = [column for column in before if column <= indent]
        is_next = self._is_after_blank or len(items) < len(before)
        while (item := _ITEM.match(rest, indent)) and not _RULE.match(rest, indent):
            is_near = indent - (items[-1] if items else 0) <= 3
            # Within a paragraph, a numbered list can only begin with 1.
            if not is_near or not (is_next or item["number"] in (None, "1")):
                return prefix, -1, items
            gap = item["gap"]
            indent = item.end() if len(gap) <= 4 else item.end() - len(gap) + 1
            items.append(indent)
            indent, is_next = item.end(), True
        return prefix, indent, items

    def _opened(self, line: str) -> _Fence | None:
        """Return the fence that a line opens; None if it is uncertain."""
        quote, indent, items = self._containers(line)
        base = items[-1] if items else 0
        if len(line) > MAX_LINE:
            return None
        found = _FENCE.match(line[len(quote) :], indent) if 0 <= indent - base <= 3 else None
        return _Fence(found[0], quote, indent, base) if found else None

    def _holds(self, fence: _Fence, line: str) -> bool | None:
        """Return whether a line belongs to a code block; None if it is uncertain."""
        rest = line[len(fence.quote) :]
        if not line.startswith(fence.quote):
            return True if line.rstrip(" \t") == fence.quote.rstrip() else None
        bare = rest.strip(" \t")
        indent = _indent(rest)
        if bare and indent < fence.indent:
            return None
        if len(bare) < len(fence.mark) or set(bare) != {fence.mark[0]}:
            return True
        if rest[indent : indent + 1] == "\t" or len(line) > MAX_LINE:
            return None
        if indent <= fence.base + 3:
            return False
        return True if indent > fence.indent + 3 else None


def _indent(text: str) -> int:
    spaces = _SPACES.match(text)
    return spaces.end() if spaces else 0
