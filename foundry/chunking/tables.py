"""Tables that are larger than a chunk: cut between rows, with the header again above each part.

Readers write every table as Markdown does: a header, a rule, and a line for each row.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from foundry.config.file import ChunkingSection
from foundry.records import Document, Reading, Span

ROWS_CHARS = 1_000
"""Parts are no larger, whatever chunks may be: rows of one chunk are found together."""
HEADER_SHARE = 0.6
"""A header that takes more of a part is not repeated: little room would be left for rows."""

_RULE = re.compile(r"[\s>]*(?=[^\n]*-)(?=[^\n]*\|)[|:\- \t]+$")


def repeat_headers(document: Document, options: ChunkingSection) -> Document:
    """Return the document with every table in parts that fit into chunks, as blocks of its text."""
    reading = document.reading
    limit = min(ROWS_CHARS, max(options.max_chars - options.overlap, options.max_chars // 2))
    if options.strategy == "none":
        return document
    cut = {
        block: parts
        for block in reading.blocks
        if block.end - block.start > limit
        and len(parts := list(_cut(reading.text[block.start : block.end], limit))) > 1
    }
    return replace(document, reading=_put_in(reading, cut)) if cut else document


def _cut(table: str, limit: int) -> Iterator[str]:
    lines = table.split("\n")
    if len(lines) < 3 or not _RULE.match(lines[1]):
        yield table
        return
    head, rows = lines[:2], list[str]()
    size = above = len(head[0]) + len(head[1])
    if above > HEADER_SHARE * limit:
        yield table
        return
    for line in lines[2:]:
        if rows and size + len(line) > limit:
            yield "\n".join(head + rows)
            rows, size = [], above
        rows.append(line)
        size += len(line) + 1
    yield "\n".join(head + rows)


def _put_in(reading: Reading, cut: dict[Span, list[str]]) -> Reading:
    """Return the reading with the parts of tables in their places, and every offset moved."""
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
