"""The outline of source code: definitions as headings, statements as blocks.

Runs in worker processes, since the parsers are written in C and their input is untrusted. The tree
is walked without recursion, and function bodies are mostly skipped, so the time is linear.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from foundry.documents import Heading, Reading, Span
from foundry.readers.code.languages import COMMENTS, GRAMMARS, OPENERS, Grammar, find_names
from foundry.readers.contract import FileReader

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

WHOLE_BYTES = 400
"""Statements up to this size are blocks; larger ones are divided."""
OPEN_BYTES = 1_200
"""Inner functions count as definitions only in functions larger than this."""
MAX_INDENTATION = 400

_CLOSING = re.compile(r"(?:[\W_]|\b(?:end|endif)\b)*+")
"""Text after a definition that belongs to it: closing brackets and keywords."""


@dataclass(frozen=True, slots=True)
class _Definition:
    names: tuple[str, ...]
    start: int
    end: int
    has_first_line: bool = False


class _Open(NamedTuple):
    """An open definition: the levels of its first and last name, and its end."""

    first_level: int
    level: int
    end: int


@dataclass(frozen=True, slots=True)
class _Visit:
    """A node to visit.

    `start` is where its preceding comments or wrapper begin, if any; `is_closed` means that
    definitions inside it do not count, and `may_be_block` that the enclosing node is not a block.
    """

    node: "Node"
    start: int | None = None
    in_function: bool = False
    is_closed: bool = False
    may_be_block: bool = False


def read(language: str, content: bytes) -> Reading:
    """Read code in UTF-8 without a byte order mark, with an outline of its definitions.

    If the code has syntax errors, the grammar's fallback is tried as well.
    """
    grammar = GRAMMARS[language]
    root = _parse(language, content)
    if root.has_error and grammar.fallback:
        other = _parse(grammar.fallback, content)
        if not other.has_error:
            grammar, root = GRAMMARS[grammar.fallback], other
    definitions, blocks = _walk(root, grammar)
    text = content.decode()
    to_chars = _offset_map(content, [*definitions, *blocks])
    placed = [
        replace(found, start=_indented(text, to_chars(found.start)), end=to_chars(found.end))
        for found in definitions
    ]
    spans = [Span(to_chars(block.start), to_chars(block.end)) for block in blocks]
    starts = [found.start for found in placed]
    return Reading(
        text=text,
        headings=tuple(_headings(text, placed)),
        blocks=tuple(_whole_lines(text, spans, starts)),
    )


def _walk(root: "Node", grammar: Grammar) -> tuple[list[_Definition], list[Span]]:
    definitions: list[_Definition] = []
    blocks: list[Span] = []
    visits = [_Visit(root)]
    while visits:
        visit = visits.pop()
        node = visit.node
        is_small = node.end_byte - node.start_byte <= WHOLE_BYTES and node.id != root.id
        if visit.may_be_block and is_small:
            blocks.append(Span(node.start_byte, node.end_byte))
        counts = not visit.is_closed and not (visit.in_function and is_small)
        names = find_names(node, grammar) if counts else ()
        if names:
            start = node.start_byte if visit.start is None else visit.start
            if definitions and start <= definitions[-1].start:
                start = node.start_byte
            has_first_line = node.type in OPENERS and start == node.start_byte
            definitions.append(_Definition(names, start, node.end_byte, has_first_line))
            visit = _enter(visit, grammar)
        if counts or not is_small:
            visits += reversed(list(_children(visit, grammar, is_small=is_small)))
    return definitions, blocks


def _enter(visit: _Visit, grammar: Grammar) -> _Visit:
    """Return the visit that applies to the children of a definition."""
    node = visit.node
    if node.type in grammar.scopes:
        return _Visit(node)
    return _Visit(node, in_function=True, is_closed=node.end_byte - node.start_byte <= OPEN_BYTES)


def _children(visit: _Visit, grammar: Grammar, *, is_small: bool) -> Iterator[_Visit]:
    """Yield visits to the named children, which start at a preceding comment or wrapper, if any."""
    node = visit.node
    run_start: int | None = None
    run_row = code_row = -2
    for child in node.named_children:
        kind = child.type
        first_row, last_row = child.start_point.row, child.end_point.row
        is_attached = kind in COMMENTS or kind in grammar.attached
        if first_row - run_row > 1:
            run_start = None
        start = run_start
        if is_attached and first_row != code_row:
            run_start, run_row = (child.start_byte if run_start is None else run_start), last_row
        else:
            run_start, code_row = None, last_row
        if node.type in grammar.wrappers:
            start = node.start_byte if visit.start is None else visit.start
        elif start is None and child.start_byte == node.start_byte:
            start = visit.start
        yield _Visit(child, start, visit.in_function, visit.is_closed, may_be_block=not is_small)


def _headings(text: str, definitions: Sequence[_Definition]) -> Iterator[Heading]:
    """Yield the definitions as headings; a heading without text ends a section."""
    opened: list[_Open] = []
    end_of_text = _Definition((), len(text), len(text))
    for found, following in pairwise((*definitions, end_of_text, end_of_text)):
        while opened and opened[-1].end <= found.start:
            closed = opened.pop()
            limit = min(found.start, opened[-1].end) if opened else found.start
            if not _CLOSING.fullmatch(text, closed.end, limit):
                yield Heading(closed.first_level, "", closed.end, closed.end)
        first_level = level = opened[-1].level + 1 if opened else 1
        for name in found.names[:-1]:
            yield Heading(level, name, found.start, found.start)
            level += 1
        if found.names:
            end = _first_line(text, found, following.start) if found.has_first_line else found.start
            yield Heading(level, found.names[-1], found.start, end)
        opened.append(_Open(first_level, level, found.end))


def _indented(text: str, start: int) -> int:
    """Return the beginning of the line if only white space precedes `start`; else `start`."""
    begin = start
    while begin > 0 and text[begin - 1] in " \t" and start - begin < MAX_INDENTATION:
        begin -= 1
    return begin if begin == 0 or text[begin - 1] == "\n" else start


def _first_line(text: str, found: _Definition, limit: int) -> int:
    end = text.find("\n", found.start, min(found.end, limit))
    return found.start if end < 0 else end


def _whole_lines(text: str, blocks: Iterable[Span], starts: Sequence[int]) -> Iterator[Span]:
    """Yield blocks that begin a line and contain no definition, extended to the end of the line."""
    end = 0
    for block in blocks:
        begin = text.rfind("\n", max(end - 1, block.start - MAX_INDENTATION, 0), block.start) + 1
        begins_line = (begin > 0 or block.start < MAX_INDENTATION) and begin >= end
        if not begins_line or text[begin : block.start].strip():
            continue
        holds = bisect_right(starts, block.start) != bisect_right(starts, block.end - 1)
        if not holds:
            line_end = text.find("\n", block.end, block.end + MAX_INDENTATION)
            end = block.end if line_end < 0 else line_end + 1
            yield Span(begin, end)


def _offset_map(content: bytes, spans: Iterable[_Definition | Span]) -> Callable[[int], int]:
    """Return a function that maps the starts and ends of `spans` from bytes to characters."""
    if content.isascii():
        return lambda offset: offset
    chars = {0: 0}
    before = count = 0
    for offset in sorted({offset for span in spans for offset in (span.start, span.end)}):
        count += len(content[before:offset].decode(errors="replace"))
        chars[offset], before = count, offset
    return chars.__getitem__


def _parse(language: str, content: bytes) -> "Node":
    return _parser(language).parse(content).root_node


@cache
def _parser(language: str) -> "Parser":
    from tree_sitter import Language, Parser

    grammar = GRAMMARS[language]
    return Parser(Language(getattr(import_module(grammar.module), grammar.function)()))


READERS = {
    language: FileReader(
        f"code-{language}-outline/1",
        {},
        {},
        partial(read, language),
        ("tree_sitter", grammar.module),
        "code",
    )
    for language, grammar in GRAMMARS.items()
}
"""Outline readers by language. Source readers use them; they match no file name or media type."""
