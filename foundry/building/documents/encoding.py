"""Encodes prepared documents as bytes, for workers and the cache.

A result is its lengths and counts, signature, reader, remarks as JSON, compressed texts, and its
arrays uncompressed, since vectors do not compress. The texts are the parts of the index entry as
they are written, and the full document with its chunks as JSON. The full document is decoded only
if it has boilerplate or copies, or is compared with near copies. Texts of chunks are not stored,
since they are slices of the document's text.
"""

import hashlib
import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from foundry.building.documents.signature import Signature, edge_keys, find_blocks
from foundry.building.report import Remarks
from foundry.documents import Chunk, Document, RawDocument, Skipped, Span
from foundry.documents.prepared import (
    ChunkTerms,
    ChunkVectors,
    FormCounts,
    HeadingRows,
    LinkKeys,
    PreparedDocument,
    pack,
    unpack,
)
from foundry.documents.reasons import Reason
from foundry.indexing.entries import DocumentFields, IndexEntry, RecordLines, parse_fields
from foundry.indexing.queries.forms import SEPARATOR

ZLIB_LEVEL = 1

MAX_UNPACKED_BYTES = 2_000_000_000

_TEXTS, _ARRAYS, _VECTORS = 6, 16, 3
"""Numbers of texts before the full document, of arrays, and of further arrays for vectors."""

_HEAD = struct.Struct(f"<QQ?qI4I{_TEXTS + _ARRAYS + _VECTORS}I")
"""The numbers of `Facts`, and the lengths of signature (0 for a skipped document), reader, remarks,
compressed texts, each text before the full document, and each array.
"""

_FACTS, _PARTS = 5, 4
"""Number of facts in the head, and of lengths that precede those of the texts."""

_Path = tuple[str, ...]
_StoredChunk = tuple[
    str, _Path, int, int, int, int, int | None, Span | None, tuple[_Path, ...], Span | None
]
"""The fields of a chunk that cannot be taken from its document, in the order of `Chunk`.

These are `id`, `heading_path`, `start`, `end` and those after it.
"""


class Facts(NamedTuple):
    """The data about a prepared document that a build needs besides its index entry.

    `characters` is the number of characters in its chunks, and `words` counts the words of the
    original file. `has_seen` is whether text was read from pictures. If time ran out, `hurried` is
    the number of pages that were read, else -1. `dimensions` is 0 without vectors.
    """

    characters: int
    words: int
    has_seen: bool
    hurried: int
    dimensions: int


class _Stored(NamedTuple):
    """The full document, which is stored as JSON."""

    document: Document
    chunks: tuple[_StoredChunk, ...]


_of_chunk = attrgetter(
    *(each.name for each in fields(Chunk) if each.name not in {"document_id", "text"})
)
_REMARKS = TypeAdapter(Remarks)
_STORED = TypeAdapter(_Stored)
_SKIPPED = TypeAdapter(Skipped)


@dataclass(frozen=True)
class StoredDocument:
    """A document as encoded by `encode`; its parts are decoded on demand."""

    signature: bytes
    reader: str
    remarks: Remarks
    facts: Facts
    packed: bytes
    sizes: Sequence[int]
    joined: bytes
    lengths: Sequence[int]

    @cached_property
    def arrays(self) -> Sequence[bytes]:
        """The document's arrays."""
        return _split(self.joined, self.lengths)

    @cached_property
    def texts(self) -> Sequence[bytes]:
        """The texts of the document's index entry. Raises ValueError if they are invalid."""
        return _split(_unpack(self.packed, sum(self.sizes)), self.sizes)

    @cached_property
    def fields(self) -> DocumentFields:
        """The fields of the document's record. Raises ValueError if it is invalid."""
        return parse_fields(self.texts[0])

    @cached_property
    def entry(self) -> IndexEntry:
        """The document's index entry. Raises ValueError for text that is not UTF-8."""
        record, lines, heading_texts, *others = self.texts
        vocabulary, forms, offered = (text.decode() for text in others)
        arrays, dimensions = self.arrays, self.facts.dimensions
        # Encoding many strings would take five times as long as one long string.
        terms = tuple(vocabulary.split(SEPARATOR)) if vocabulary else ()
        return IndexEntry(
            record=record,
            chunks=RecordLines(lines, *arrays[:2]),
            terms=ChunkTerms(terms, *arrays[2:6]),
            headings=HeadingRows(*[*arrays[6:11], heading_texts]),
            links=LinkKeys(*arrays[11:14]),
            forms=FormCounts(forms, arrays[14]),
            offered=offered,
            vectors=ChunkVectors(dimensions, *arrays[_ARRAYS:]) if dimensions else None,
        )

    @property
    def edges(self) -> list[int]:
        """The keys of the blocks of text at the ends of its chunks; see `edge_keys`."""
        keys: list[int] = unpack(self.arrays[15], np.uint64).tolist()
        return keys

    @property
    def chunk_count(self) -> int:
        """Number of chunks."""
        return self.lengths[1] // 8

    @property
    def embedded(self) -> int:
        """Number of chunks that have vectors."""
        return self.chunk_count if self.facts.dimensions else 0

    def read(self) -> tuple[Document, tuple[Chunk, ...]]:
        """Return the full document with its chunks.

        Raises ValueError if it is invalid: unlike the other parts, it was not validated when the
        worker returned it.
        """
        document, stored = _STORED.validate_json(_unpack(self.packed)[sum(self.sizes) :])
        text = document.reading.text
        spans = [(start, end) for _, _, start, end, *_ in stored]
        if any(not 0 <= start <= end <= len(text) for start, end in spans):
            raise ValueError("a chunk is outside the text")
        if sum(end - start for start, end in spans) > MAX_UNPACKED_BYTES:
            raise ValueError("too much")
        return document, tuple(
            Chunk(chunk[0], document.id, text[start:end], *chunk[1:])
            for chunk, (start, end) in zip(stored, spans, strict=True)
        )


def encode(result: PreparedDocument | Skipped) -> bytes:
    """Encode a result as bytes, beginning with the signature unless the document was skipped.

    Raises ValueError for invalid text.
    """
    if isinstance(result, Skipped):
        content = zlib.compress(_SKIPPED.dump_json(result), ZLIB_LEVEL)
        nothing = [0] * (_TEXTS + _ARRAYS + _VECTORS)
        return _HEAD.pack(0, 0, False, 0, 0, 0, 0, 0, len(content), *nothing) + content
    document, entry, reading = result.document, IndexEntry.of(result), result.document.reading
    terms, headings, links, vectors = entry.terms, entry.headings, entry.links, entry.vectors
    arrays = [entry.chunks.lengths, entry.chunks.ids]
    arrays += [terms.offsets, terms.numbers, terms.counts, terms.lengths]
    arrays += [headings.hashes, headings.chunks, headings.terms, headings.kinds, headings.lengths]
    blocks = [*find_blocks(reading)]
    edges = pack(np.array(edge_keys(blocks, result.chunks), dtype=np.uint64))
    arrays += [links.first, links.other, links.addresses, entry.forms.counts, edges]
    arrays += [b"", b"", b""] if vectors is None else [vectors.rows, vectors.scales, vectors.pieces]
    texts = [entry.record, entry.chunks.lines, headings.texts]
    texts += [SEPARATOR.join(terms.vocabulary).encode()]
    texts += [entry.forms.forms.encode(), entry.offered.encode()]
    whole = _STORED.dump_json(_Stored(document, tuple(map(_of_chunk, result.chunks))))
    facts = Facts(
        characters=sum(len(chunk.text) for chunk in result.chunks),
        words=reading.words.source if reading.words else 0,
        has_seen=bool(reading.seen),
        hurried=reading.looked_at if reading.is_hurried else -1,
        dimensions=0 if vectors is None else vectors.dimensions,
    )
    remarks = Remarks.of(document)
    parts = [
        Signature.of(document, blocks).to_bytes(),
        document.reader.encode(),
        b"" if remarks == Remarks() else _REMARKS.dump_json(remarks),
        zlib.compress(b"".join((*texts, whole)), ZLIB_LEVEL),
    ]
    return b"".join((_HEAD.pack(*facts, *map(len, (*parts, *texts, *arrays))), *parts, *arrays))


def encode_result(raw: RawDocument, result: PreparedDocument | Skipped) -> bytes:
    """Encode a result like `encode`; a result with invalid text becomes Skipped."""
    try:
        return encode(result)
    except ValueError as error:
        return encode(
            Skipped(raw.source, raw.path, Reason.CANNOT_BE_PREPARED, type(error).__name__)
        )


def decode(content: bytes) -> StoredDocument | Skipped:
    """Decode the result of `encode`. Raises ValueError for any other bytes."""
    numbers = _numbers(content)
    parts, sizes = numbers[_FACTS:][:_PARTS], numbers[_FACTS + _PARTS :][:_TEXTS]
    lengths = numbers[_FACTS + _PARTS + _TEXTS :]
    *head, joined = _split(content, (*parts, sum(lengths)), _HEAD.size)
    signature, reader, remarks, packed = head
    if not signature:
        skipped = _SKIPPED.validate_json(_unpack(packed))
        return Skipped(skipped.source, skipped.path, Reason(skipped.reason), skipped.detail)
    said = _REMARKS.validate_json(remarks) if remarks else Remarks()
    facts = Facts(*numbers[:_FACTS])
    return StoredDocument(signature, reader.decode(), said, facts, packed, sizes, joined, lengths)


def signature_bytes(content: bytes) -> bytes:
    """Return the signature in the result of `encode`; empty for a skipped document.

    Raises ValueError if the result is cut off.
    """
    return content[_HEAD.size :][: _numbers(content)[_FACTS]]


def _numbers(content: bytes) -> tuple[Any, ...]:
    if len(content) < _HEAD.size:
        raise ValueError("cut off")
    return _HEAD.unpack_from(content)


def _unpack(packed: bytes, size: int | None = None) -> bytes:
    """Decompress texts, or only their first `size` bytes."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, size or MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(text) != size if size else unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError("truncated or too large")
    return text


def _split(content: bytes, sizes: Sequence[int], start: int = 0) -> list[bytes]:
    ends = [*accumulate(sizes, initial=start)]
    if ends[-1] != len(content):
        raise ValueError("the parts have the wrong length")
    return [content[first:last] for first, last in pairwise(ends)]


def content_key(raw: RawDocument) -> bytes:
    """Return the SHA-256 of everything that a source delivers for a document, except its stamp."""
    named = json.dumps(raw.describe(), sort_keys=True).encode()
    return hashlib.sha256(hashlib.sha256(named).digest() + raw.content).digest()
