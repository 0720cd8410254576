"""Splits blocks that exceed a chunk: tables between rows, code between lines.

Each part repeats the header of its table or the fence of its code. Readers write all tables as
Markdown: a header, a rule, and a line per row.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from foundry.chunking.packing import capacity_of
from foundry.config.file import ChunkingSection
from foundry.documents import Document, Reading, Span

ROWS_CHARS = 1_000
"""Maximum size of a part of a table: a search returns all rows of a chunk together."""
REPEATED_SHARE = 0.6
"""Maximum share of repeated lines in a part; blocks that would exceed it are not cut here."""

_RULE = re.compile(r"[\s>]*(?=[^\n]*-)(?=[^\n]*\|)[|:\- \t]+$")
_MARGIN = " \t>"
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_INDENTED_CODE = re.compile(r"(?: {4}| {0,3}\t)(?![ \t]*(?:`{3}|~{3}|[|<>]))")


def cut_blocks(document: Document, options: ChunkingSection) -> Document:
    """Return the document with large tables and code split into parts that fit, each a block."""
    reading = document.reading
    if options.strategy == "none":
        return document
    cut = {
        block: parts
        for block in reading.blocks
        if len(parts := _parts(reading.text[block.start : block.end], options)) > 1
    }
    return replace(document, reading=_put_in(reading, cut)) if cut else document


def is_indented_code(text: str, start: int) -> bool:
    """Return whether the block that begins at an offset is code without a fence."""
    return _INDENTED_CODE.match(text, start) is not None


def _parts(block: str, options: ChunkingSection) -> list[str]:
    room = capacity_of(options)
    lines = block.split("\n")
    if len(block) > min(ROWS_CHARS, room) and len(lines) > 2 and _RULE.match(lines[1]):
        return _cut(lines[:2], lines[2:], [], min(ROWS_CHARS, room), lambda fitting, _: fitting)
    if len(block) > options.max_chars and (fence := _FENCE.match(lines[0])):
        *code, last = lines[1:]
        if _FENCE.fullmatch(last.rstrip()) and last.strip(_MARGIN).startswith(fence[1]):
            return _cut(lines[:1], code, [last], room, _before_paragraph)
    if len(block) > options.max_chars and is_indented_code(block, 0):
        return _cut([], lines, [], room, _before_paragraph)
    return [block]


def _cut(
    head: list[str],
    lines: list[str],
    foot: list[str],
    room: int,
    choose: Callable[[int, list[str]], int],
) -> list[str]:
    """Return parts of at most `room` characters, each with head and foot.

    Longer lines are kept whole. If head and foot exceed REPEATED_SHARE of `room`, the block is
    returned as one part. `choose` is called with the number of lines that fit into a part, and with
    these lines and the next one; it returns how many to take. Empty lines between parts are
    dropped.
    """
    above = sum(len(line) + 1 for line in (*head, *foot))
    if above > REPEATED_SHARE * room:
        return ["\n".join([*head, *lines, *foot])]
    parts = []
    start = end = 0
    while start < len(lines):
        size = above
        while end < len(lines) and (end == start or size + len(lines[end]) < room):
            size += len(lines[end]) + 1
            end += 1
        if end < len(lines):
            end = start + choose(end - start, lines[start : end + 1])
        last = end
        while last > start + 1 and not lines[last - 1].strip(_MARGIN):
            last -= 1
        parts.append("\n".join([*head, *lines[start:last], *foot]))
        while end < len(lines) and not lines[end].strip(_MARGIN):
            end += 1
        start = end
    return parts


def _before_paragraph(fitting: int, lines: list[str]) -> int:
    """Return how many lines of code to take: the next part begins at the least indented line.

    Of several such lines, one after a blank line is preferred, then the last one. A part begins
    with a closing bracket only if this cannot be avoided. At least half of the fitting lines are
    taken.
    """

    def fitness(count: int) -> tuple[bool, int, bool, int]:
        line = lines[count]
        code = line.lstrip(_MARGIN)
        is_open = not code or code.startswith((")", "]", "}"))
        return is_open, len(line) - len(code), bool(lines[count - 1].strip(_MARGIN)), -count

    return min(range(max(1, fitting // 2), fitting + 1), key=fitness)


def _put_in(reading: Reading, cut: dict[Span, list[str]]) -> Reading:
    """Return the reading with the parts in place of their blocks, and all offsets shifted."""
    ends, moved, parts = [0], [0], list[str]()
    blocks: list[Span] = []
    position = 0
    for block in reading.blocks:
        distance = moved[-1]
        if block not in cut:
            blocks.append(Span(block.start + distance, block.end + distance))
            continue
        parts += [reading.text[position : block.start], "\n\n".join(cut[block])]
        position = block.end
        start = block.start + distance
        for part in cut[block]:
            blocks.append(Span(start, start + len(part)))
            start += len(part) + 2
        ends.append(block.end)
        moved.append(start - 2 - block.end)

    def move(offset: int) -> int:
        return offset + moved[bisect_right(ends, offset) - 1]

    return replace(
        reading,
        text="".join([*parts, reading.text[position:]]),
        headings=tuple(
            replace(heading, start=move(heading.start), end=move(heading.end))
            for heading in reading.headings
        ),
        blocks=tuple(blocks),
        pages=tuple(map(move, reading.pages)),
    )
