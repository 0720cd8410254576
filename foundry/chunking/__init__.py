"""Documents to chunks: verbatim passages with ids that survive edits elsewhere."""

import hashlib
import re
from bisect import bisect_right
from collections import Counter

from foundry.chunking import headings, none, recursive
from foundry.chunking.packing import Packer
from foundry.config import ChunkingOptions
from foundry.records import Chunk, Document

_STRATEGIES = {"headings": headings.split, "recursive": recursive.split, "none": none.split}
_MARKDOWN_READERS = frozenset(
    "docx epub html markdown mdx notebook opendocument outlook pptx rst sheets".split()
)
"""Readers whose text is written as Markdown, whatever the file was."""

_NEWLINE = re.compile("\n")
_WORD = re.compile(r"[^\W_]")


def chunk(document: Document, options: ChunkingOptions) -> list[Chunk]:
    """Cut a document into chunks of at most `max_chars` characters, in its order.

    White space at both ends is left out, and so are pieces without a letter or a digit. An id is
    derived from the document's id, the heading path and the chunk's number below that path; the
    same input gives the same ids in every process. The strategy "none" knows no limit.
    """
    text = document.reading.text
    is_markdown = document.reader.partition("/")[0] in _MARKDOWN_READERS
    packer = Packer(text, document.reading.blocks, is_markdown, options)
    line_starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    ordinals: Counter[tuple[str, ...]] = Counter()
    chunks = []
    for piece in _STRATEGIES[options.strategy](document, packer):
        raw = text[piece.start : piece.end]
        start = piece.start + len(raw) - len(raw.lstrip())
        end = piece.end - (len(raw) - len(raw.rstrip()))
        if not _WORD.search(text, start, max(end, start)):
            continue
        ordinal = ordinals[piece.heading_path]
        ordinals[piece.heading_path] += 1
        chunks.append(
            Chunk(
                id=_make_id(document.id, piece.heading_path, ordinal),
                document_id=document.id,
                text=text[start:end],
                heading_path=piece.heading_path,
                start=start,
                end=end,
                line_start=bisect_right(line_starts, start),
                line_end=bisect_right(line_starts, end - 1),
                page=bisect_right(document.reading.pages, start) or None,
            )
        )
    return chunks


def _make_id(document_id: str, heading_path: tuple[str, ...], ordinal: int) -> str:
    parts = "\0".join((document_id, *heading_path, str(ordinal)))
    return hashlib.sha256(parts.encode()).hexdigest()[:16]
