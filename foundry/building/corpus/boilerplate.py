"""Boilerplate: blocks of text that many documents of a source share.

Menus, licence headers, cookie notes and "see also" lists are not specific to a document, and push
specific passages out of the results. A block is a paragraph, a heading, or a part that a reader
keeps whole, such as a code fence or a table. It is boilerplate if it is in at least MIN_DOCUMENTS
documents of a source, and in at least the share LONG_SHARE of the source's documents. For headings
and other short blocks, the share is SHORT_SHARE, since documents of one kind share short facts
("Return value: none").

Boilerplate is cut off both ends of chunks, and a chunk of only boilerplate is dropped. The first
document with a block keeps it, so that everything can still be found once. A heading is never
separated from the text directly below it, and a document of only boilerplate is not cut.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from foundry.building.documents.signature import Block, find_blocks
from foundry.documents import Chunk, Document, Reading, Span
from foundry.indexing.files import look_up

MIN_DOCUMENTS = 10
LONG_SHARE = 0.1
SHORT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The remaining chunks of a document, and how many chunks and characters were cut."""

    chunks: tuple[Chunk, ...]
    dropped: int = 0
    characters: int = 0


def find_boilerplate(
    documents: NDArray[np.int64], counts: NDArray[np.int64], keys: NDArray[np.uint64]
) -> dict[int, set[int]]:
    """Return the keys of the boilerplate blocks to cut, by document number.

    The first document with a block keeps it. `documents` (n,) are those of one source, in index
    order; `keys` (b,) are those of their blocks, of which each document has `counts` (n,).
    """
    ordered = np.sort(keys)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(keys)])
    times = np.diff(starts, append=len(keys))
    shares = np.where(ordered[starts] & np.uint64(1), SHORT_SHARE, LONG_SHARE)
    is_common = (times >= MIN_DOCUMENTS) & (times >= shares * len(documents))
    common = ordered[starts[is_common]]
    places = np.flatnonzero(look_up(keys, common, np.arange(len(common))) >= 0)
    _, first = np.unique(keys[places], return_index=True)
    places = np.delete(places, first)
    unwanted: dict[int, set[int]] = {}
    holders = np.repeat(documents, counts)[places].tolist()
    for number, key in zip(holders, keys[places].tolist(), strict=True):
        unwanted.setdefault(number, set()).add(key)
    return unwanted


def trim(document: Document, chunks: Sequence[Chunk], unwanted: set[int]) -> Trimmed:
    """Cut blocks with `unwanted` keys off both ends of each chunk; chunk ids do not change.

    Chunks of which nothing is left are dropped, unless these are all chunks of the document.
    """
    reading = document.reading
    blocks = list(find_blocks(reading))
    starts = [block.start for block in blocks]
    kept = []
    for chunk in chunks:
        span = _remaining(chunk, starts, blocks, unwanted)
        if span is not None:
            kept.append(_cut(reading, chunk, *span))
    if not kept:
        return Trimmed(tuple(chunks))
    return Trimmed(tuple(kept), len(chunks) - len(kept), _size(chunks) - _size(kept))


def _remaining(
    chunk: Chunk, starts: Sequence[int], blocks: Sequence[Block], unwanted: set[int]
) -> tuple[int, int] | None:
    """Return the start and end of the rest of a chunk; None if nothing is left."""
    first, last = bisect_left(starts, chunk.start), bisect_left(starts, chunk.end)
    inside = blocks[first:last]
    low, high = 0, len(inside)
    # A chunk that begins inside a block has only a part of it, which is kept.
    if not first or blocks[first - 1].end <= chunk.start:
        while low < high and inside[low].key in unwanted and inside[low].end <= chunk.end:
            low += 1
        if inside and low == high:
            return None
        while low and inside[low - 1].is_heading:
            low -= 1
    while high > low and inside[high - 1].key in unwanted and inside[high - 1].end <= chunk.end:
        high -= 1
    if high < len(inside) and (high == low or inside[high - 1].is_heading):
        high = len(inside)
    start = inside[low].start if low else chunk.start
    return start, inside[high - 1].end if high < len(inside) else chunk.end


def _cut(reading: Reading, chunk: Chunk, start: int, end: int) -> Chunk:
    if (start, end) == (chunk.start, chunk.end):
        return chunk
    text, origin = reading.text, chunk.origin or chunk
    return replace(
        chunk,
        origin=Span(origin.start + start - chunk.start, origin.end + end - chunk.end),
        text=text[start:end],
        start=start,
        end=end,
        line_start=chunk.line_start + text.count("\n", chunk.start, start),
        line_end=chunk.line_end - text.count("\n", end, chunk.end),
        page=bisect_right(reading.pages, start) or None,
    )


def _size(chunks: Sequence[Chunk]) -> int:
    return sum(chunk.end - chunk.start for chunk in chunks)
