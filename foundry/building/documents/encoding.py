"""Encodes prepared documents as bytes, for workers and the cache.

A result is its signature, facts as JSON, compressed texts, and its arrays uncompressed, since
vectors do not compress. The texts are the parts of the index entry as they are written, and the
full document with its chunks as JSON. The full document is decoded only if it has boilerplate or
copies, or is compared with near copies. Texts of chunks are not stored, since they are slices of
the document's text.
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
from typing import NamedTuple

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

_LENGTHS = struct.Struct("<IIII")
"""Lengths of the signature (0 for a skipped document), the facts, the compressed texts, and the
texts that precede the full document.
"""

_TEXTS = 6
_ARRAYS, _VECTORS = 16, 4
"""Number of arrays of a document, and of additional ones if it has vectors."""

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
    the number of pages that were read, else None. `dimensions` is None without vectors. `texts` and
    `arrays` are the byte lengths of all parts.
    """

    reader: str
    remarks: Remarks
    characters: int
    words: int
    has_seen: bool
    hurried: int | None
    dimensions: int | None
    texts: tuple[int, ...]
    arrays: tuple[int, ...]


class _Stored(NamedTuple):
    """The full document, which is stored as JSON."""

    document: Document
    chunks: tuple[_StoredChunk, ...]


_of_chunk = attrgetter(
    *(each.name for each in fields(Chunk) if each.name not in {"document_id", "text"})
)
_FACTS = TypeAdapter(Facts)
_STORED = TypeAdapter(_Stored)
_SKIPPED = TypeAdapter(Skipped)


@dataclass(frozen=True)
class StoredDocument:
    """A document as encoded by `encode`; its parts are decoded on demand."""

    signature: bytes
    facts: Facts
    arrays: Sequence[bytes]
    packed: bytes
    size: int

    @cached_property
    def texts(self) -> Sequence[bytes]:
        """The texts of the document's index entry. Raises ValueError if they are invalid."""
        return _split(_unpack(self.packed, self.size), self.facts.texts)

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
            vectors=None if dimensions is None else ChunkVectors(dimensions, *arrays[_ARRAYS:]),
        )

    @property
    def edges(self) -> list[int]:
        """The keys of the blocks of text at the ends of its chunks; see `edge_keys`."""
        keys: list[int] = unpack(self.arrays[15], np.uint64).tolist()
        return keys

    @property
    def chunk_count(self) -> int:
        """Number of chunks."""
        return len(self.arrays[1]) // 8

    @property
    def embedded(self) -> int:
        """Number of chunks that have vectors."""
        return 0 if self.facts.dimensions is None else self.chunk_count

    def read(self) -> tuple[Document, tuple[Chunk, ...]]:
        """Return the full document with its chunks.

        Raises ValueError if it is invalid: unlike the other parts, it was not validated when the
        worker returned it.
        """
        document, stored = _STORED.validate_json(_unpack(self.packed)[self.size :])
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
        return _LENGTHS.pack(0, 0, len(content), 0) + content
    document, entry, reading = result.document, IndexEntry.of(result), result.document.reading
    terms, headings, links, vectors = entry.terms, entry.headings, entry.links, entry.vectors
    arrays = [entry.chunks.lengths, entry.chunks.ids]
    arrays += [terms.offsets, terms.numbers, terms.counts, terms.lengths]
    arrays += [headings.hashes, headings.chunks, headings.terms, headings.kinds, headings.lengths]
    blocks = [*find_blocks(reading)]
    edges = pack(np.array(edge_keys(blocks, result.chunks), dtype=np.uint64))
    arrays += [links.first, links.other, links.addresses, entry.forms.counts, edges]
    if vectors is not None:
        arrays += [vectors.rows, vectors.scales, vectors.offsets, vectors.pieces]
    texts = [entry.record, entry.chunks.lines, headings.texts]
    texts += [SEPARATOR.join(terms.vocabulary).encode()]
    texts += [entry.forms.forms.encode(), entry.offered.encode()]
    whole = _STORED.dump_json(_Stored(document, tuple(map(_of_chunk, result.chunks))))
    facts = Facts(
        reader=document.reader,
        remarks=Remarks.of(document),
        characters=sum(len(chunk.text) for chunk in result.chunks),
        words=reading.words.source if reading.words else 0,
        has_seen=bool(reading.seen),
        hurried=reading.looked_at if reading.is_hurried else None,
        dimensions=None if vectors is None else vectors.dimensions,
        texts=tuple(map(len, texts)),
        arrays=tuple(map(len, arrays)),
    )
    signature = Signature.of(document, blocks).to_bytes()
    stated = _FACTS.dump_json(facts)
    content = zlib.compress(b"".join((*texts, whole)), ZLIB_LEVEL)
    lengths = _LENGTHS.pack(len(signature), len(stated), len(content), sum(facts.texts))
    return b"".join((lengths, signature, stated, content, *arrays))


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
    signature, stated, packed, rest, size = _cut(content)
    if not signature:
        skipped = _SKIPPED.validate_json(_unpack(packed))
        return Skipped(skipped.source, skipped.path, Reason(skipped.reason), skipped.detail)
    facts = _FACTS.validate_json(stated)
    columns = _ARRAYS + (0 if facts.dimensions is None else _VECTORS)
    if (len(facts.texts), len(facts.arrays)) != (_TEXTS, columns):
        raise ValueError("wrong number of parts")
    return StoredDocument(signature, facts, _split(rest, facts.arrays), packed, size)


def signature_bytes(content: bytes) -> bytes:
    """Return the signature in the result of `encode`; empty for a skipped document.

    Raises ValueError like `decode`.
    """
    return _cut(content)[0]


def _cut(content: bytes) -> tuple[bytes, bytes, bytes, bytes, int]:
    """Return signature, facts, compressed texts, arrays, and the length of the entry's texts."""
    if len(content) < _LENGTHS.size:
        raise ValueError("cut off")
    *lengths, before = _LENGTHS.unpack_from(content)
    ends = accumulate(lengths, initial=_LENGTHS.size)
    signature, facts, packed = (content[start:end] for start, end in pairwise(ends))
    return signature, facts, packed, content[_LENGTHS.size + sum(lengths) :], before


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


def _split(content: bytes, sizes: Sequence[int]) -> list[bytes]:
    if min(sizes, default=0) < 0 or sum(sizes) != len(content):
        raise ValueError("the parts have the wrong length")
    return [content[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]


def content_key(raw: RawDocument) -> bytes:
    """Return the SHA-256 of everything that a source delivers for a document, except its stamp."""
    named = json.dumps(raw.describe(), sort_keys=True).encode()
    return hashlib.sha256(hashlib.sha256(named).digest() + raw.content).digest()
