"""Splits documents into chunks: verbatim passages with ids that survive edits elsewhere."""

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from foundry.chunking import strategies
from foundry.chunking.blocks import is_indented_code
from foundry.chunking.packing import CountTokens, Packer, limit_tokens
from foundry.chunking.repeating import Origins
from foundry.chunking.sections import InnerPaths
from foundry.config.file import ChunkingSection
from foundry.documents import Chunk, Document, Piece, Reading, Span, is_code, is_data

_STRATEGIES: Mapping[str, Callable[[Document, Packer], Iterator[Piece]]] = {
    "headings": strategies.split_headings,
    "recursive": strategies.split_evenly,
    "sentences": strategies.split_sentences,
    "page": strategies.split_pages,
    "code": strategies.split_definitions,
    "parent": strategies.split_parents,
    "none": strategies.split_nothing,
}
_WORD = re.compile(r"[^\W_]")


def chunk(
    document: Document, options: ChunkingSection, count_tokens: CountTokens = len
) -> list[Chunk]:
    """Split a document into chunks of at most `max_chars` characters, in order.

    White space at both ends is stripped, except the indentation of code, data and plain text, and
    pieces without a letter or digit are dropped. An id is derived from the document's id, the
    heading path and the chunk's number below that path; the same input gives the same ids in every
    process. The strategy "none" limits only the number of tokens, which `count_tokens` counts, and
    "headings" keeps records of up to RECORD_FACTOR times `max_chars` whole.
    """
    text = document.reading.text
    packer = Packer(text, _wholes(document.reading), options)
    origins = Origins(document.reading)
    ordinals: Counter[tuple[str, ...]] = Counter()
    chunks = []
    inner = InnerPaths(document)
    pieces = _STRATEGIES[options.strategy](document, packer)
    limited = limit_tokens(pieces, packer, count_tokens, document.title)
    for piece in _trim(limited, document):
        ordinal = ordinals[piece.heading_path]
        ordinals[piece.heading_path] += 1
        chunks.append(
            Chunk(
                id=_make_id(document.id, piece.heading_path, ordinal),
                document_id=document.id,
                text=text[piece.start : piece.end],
                heading_path=piece.heading_path,
                start=piece.start,
                end=piece.end,
                line_start=origins.line_of(piece.start),
                line_end=origins.line_of(piece.end - 1),
                page=bisect_right(document.reading.pages, piece.start) or None,
                parent=piece.parent,
                inner_paths=inner.take(piece),
                origin=origins.span_of(piece.start, piece.end),
            )
        )
    return _fit_parents(chunks)


def _wholes(reading: Reading) -> list[Span]:
    """Return the spans to keep whole if they fit: lists, and blocks outside lists."""
    starts = [each.start for each in reading.lists]
    wholes = [*reading.lists]
    for block in reading.blocks:
        place = bisect_right(starts, block.start) - 1
        if place < 0 or reading.lists[place].end <= block.start:
            wholes.append(block)
    return sorted(wholes, key=lambda each: each.start)


def _trim(pieces: Iterator[Piece], document: Document) -> Iterator[Piece]:
    text = document.reading.text
    is_plain = document.reader.partition("/")[0] == "text"
    keeps_indent = is_plain or is_code(document) or is_data(document)
    code = [block for block in document.reading.blocks if is_indented_code(text, block.start)]
    starts = [block.start for block in code]
    for piece in pieces:
        raw = text[piece.start : piece.end]
        start = piece.start + len(raw) - len(raw.lstrip())
        end = piece.end - (len(raw) - len(raw.rstrip()))
        if _WORD.search(text, start, max(end, start)):
            place = bisect_right(starts, start) - 1
            if keeps_indent or (place >= 0 and start < code[place].end):
                start = _line_start(text, piece.start, start)
            yield Piece(start, end, piece.heading_path, piece.parent)


def _line_start(text: str, earliest: int, start: int) -> int:
    """Return the start of the line with `start`; `start` if the line begins before `earliest`."""
    begin = text.rfind("\n", earliest, start) + 1
    if begin:
        return begin
    return earliest if earliest == 0 or text[earliest - 1] == "\n" else start


def _fit_parents(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Make each parent begin with its first chunk and end with its last."""
    fitted: list[Chunk] = []
    for parent_span, members in groupby(chunks, key=lambda chunk: chunk.parent):
        family = list(members)
        if parent_span is not None:
            first, last = family[0].origin or family[0], family[-1].origin or family[-1]
            fitting = Span(first.start, last.end)
            family = [replace(member, parent=fitting) for member in family]
        fitted += family
    return fitted


def _make_id(document_id: str, heading_path: tuple[str, ...], ordinal: int) -> str:
    parts = "\0".join((document_id, *heading_path, str(ordinal)))
    return hashlib.sha256(parts.encode()).hexdigest()[:16]
