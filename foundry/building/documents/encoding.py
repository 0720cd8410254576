"""Encodes prepared documents as bytes, for workers and the cache, and validates decoded ones.

A result is its signature, compressed JSON, and its arrays uncompressed, since vectors do not
compress. Chunk texts are left out, since they are slices of the document's text.
"""

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from foundry.building.documents.recipe import Recipe
from foundry.building.documents.signature import Signature
from foundry.documents import Chunk, Document, RawDocument, Skipped, Span
from foundry.documents.prepared import (
    ChunkTerms,
    ChunkVectors,
    FormCounts,
    LinkKeys,
    NamedHeading,
    PreparedDocument,
    unpack,
)
from foundry.documents.reasons import Reason
from foundry.indexing.keyword.headings import Kind
from foundry.indexing.queries.forms import SEPARATOR, find_forms
from foundry.readers.sandbox.reading import check_document

ZLIB_LEVEL = 1

MAX_UNPACKED_BYTES = 2_000_000_000

_LENGTHS = struct.Struct("<II")
"""Lengths of the signature, 0 for a skipped document, and of the compressed JSON."""


_Path = tuple[str, ...]
_StoredChunk = tuple[
    str, _Path, int, int, int, int, int | None, Span | None, tuple[_Path, ...], Span | None
]
"""The fields of a chunk that cannot be taken from its document, in the order of `Chunk`.

These are `id`, `heading_path`, `start`, `end` and those after it.
"""


class _Stored(NamedTuple):
    """The part of a document that is stored as JSON.

    `vocabulary` holds terms joined by SEPARATOR, since decoding many strings takes five times as
    long as one long string. `sizes` are the byte lengths of the arrays; `dimensions` is None
    without vectors.
    """

    document: Document
    chunks: tuple[_StoredChunk, ...]
    vocabulary: str
    forms: str
    headings: tuple[NamedHeading, ...]
    dimensions: int | None
    sizes: tuple[int, ...]


_of_chunk = attrgetter(
    *(each.name for each in fields(Chunk) if each.name not in {"document_id", "text"})
)
_KINDS = frozenset(Kind)
_STORED = TypeAdapter(_Stored)
_SKIPPED = TypeAdapter(Skipped)


def encode(result: PreparedDocument | Skipped) -> bytes:
    """Encode a result as bytes, beginning with the signature unless the document was skipped."""
    if isinstance(result, Skipped):
        content = zlib.compress(_SKIPPED.dump_json(result), ZLIB_LEVEL)
        return _LENGTHS.pack(0, len(content)) + content
    terms, links, vectors = result.terms, result.links, result.vectors
    arrays = [terms.offsets, terms.numbers, terms.counts, terms.lengths]
    arrays += [links.first, links.other, links.addresses, result.forms.counts]
    if vectors is not None:
        arrays += [vectors.rows, vectors.scales, vectors.offsets, vectors.pieces]
    stored = _Stored(
        result.document,
        tuple(map(_of_chunk, result.chunks)),
        SEPARATOR.join(terms.vocabulary),
        result.forms.forms,
        result.headings,
        None if vectors is None else vectors.dimensions,
        tuple(map(len, arrays)),
    )
    signature = Signature.of(result.document).to_bytes()
    content = zlib.compress(_STORED.dump_json(stored), ZLIB_LEVEL)
    return b"".join((_LENGTHS.pack(len(signature), len(content)), signature, content, *arrays))


def encode_result(raw: RawDocument, result: PreparedDocument | Skipped) -> bytes:
    """Encode a result like `encode`; a result with invalid text becomes Skipped."""
    try:
        return encode(result)
    except ValueError as error:
        return encode(
            Skipped(raw.source, raw.path, Reason.CANNOT_BE_PREPARED, type(error).__name__)
        )


def decode(content: bytes) -> PreparedDocument | Skipped:
    """Decode the bytes of `encode`. Raises ValueError for any other bytes."""
    signature, packed, rest = _cut(content)
    text = _unpack(packed)
    if not signature:
        skipped = _SKIPPED.validate_json(text)
        return replace(skipped, reason=Reason(skipped.reason))
    stored = _STORED.validate_json(text)
    document, arrays = stored.document, [*_split(rest, stored.sizes)]
    if len(arrays) != (8 if stored.dimensions is None else 12):
        raise ValueError("wrong number of arrays")
    passages = document.reading.text
    spans = [(start, end) for _, _, start, end, *_ in stored.chunks]
    if any(not 0 <= start <= end <= len(passages) for start, end in spans):
        raise ValueError("a chunk is outside the text")
    if sum(end - start for start, end in spans) > MAX_UNPACKED_BYTES:
        raise ValueError("too much")
    chunks = tuple(
        Chunk(chunk[0], document.id, passages[start:end], *chunk[1:])
        for chunk, (start, end) in zip(stored.chunks, spans, strict=True)
    )
    vocabulary = tuple(stored.vocabulary.split(SEPARATOR)) if stored.vocabulary else ()
    terms, links = ChunkTerms(vocabulary, *arrays[:4]), LinkKeys(*arrays[4:7])
    forms, dimensions = FormCounts(stored.forms, arrays[7]), stored.dimensions
    vectors = None if dimensions is None else ChunkVectors(dimensions, *arrays[8:])
    return PreparedDocument(document, chunks, terms, stored.headings, links, forms, vectors)


def decode_signature(content: bytes) -> Signature | None:
    """Decode the signature in bytes of `encode`; None for a skipped document.

    Raises ValueError like `decode`.
    """
    signature, _, _ = _cut(content)
    return Signature.from_bytes(signature) if signature else None


def _cut(content: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the signature, the compressed JSON, and the arrays."""
    if len(content) < _LENGTHS.size:
        raise ValueError("cut off")
    signature, packed = _LENGTHS.unpack_from(content)
    middle = _LENGTHS.size + signature
    end = middle + packed
    return content[_LENGTHS.size : middle], content[middle:end], content[end:]


def _unpack(packed: bytes) -> bytes:
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError("truncated or too large")
    return text


def _split(content: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    if min(sizes, default=0) < 0 or sum(sizes) != len(content):
        raise ValueError("the arrays have the wrong length")
    for start, end in pairwise(accumulate(sizes, initial=0)):
        yield content[start:end]


def content_key(raw: RawDocument) -> bytes:
    """Return the SHA-256 of everything that a source delivers for a document, except its stamp."""
    named = json.dumps(raw.describe(), sort_keys=True).encode()
    return hashlib.sha256(hashlib.sha256(named).digest() + raw.content).digest()


def check_answer(answer: bytes, raw: RawDocument, recipe: Recipe) -> PreparedDocument | Skipped:
    """Validate and return a worker's result, which is not trusted.

    An invalid result, or one for another document, becomes Skipped.
    """
    try:
        result = decode(answer)
        if isinstance(result, Skipped):
            return Skipped(raw.source, raw.path, result.reason, result.detail)
        document, signature = result.document, decode_signature(answer)
        check_document(document, raw)
        if signature is None or signature[:2] != (document.source, document.path):
            raise ValueError("another document's signature")
        _check_parts(result, recipe)
        return result
    except (ValueError, TypeError, OverflowError) as error:
        return Skipped(raw.source, raw.path, Reason.READER_FAILED, type(error).__name__)


def _check_parts(result: PreparedDocument, recipe: Recipe) -> None:
    count, terms, links = len(result.chunks), result.terms, result.links
    numbers = unpack(terms.numbers, np.uint32)
    _check_matrix(unpack(terms.offsets, np.uint32), count, len(numbers))
    _check_lengths(count, unpack(terms.lengths, np.uint32))
    _check_lengths(len(numbers), unpack(terms.counts, np.uint32))
    if not count or (len(numbers) and int(numbers.max()) >= len(terms.vocabulary)):
        raise ValueError("a term number is out of range")
    for heading in result.headings:
        is_known = 0 <= heading.chunk < count and -1 <= heading.term < len(terms.vocabulary)
        if not is_known or heading.kind not in _KINDS:
            raise ValueError("a heading has no chunk, term or kind")
    forms = find_forms(result.forms.forms)
    _check_lengths(len(forms), unpack(result.forms.counts, np.uint32))
    if SEPARATOR.join(forms) != result.forms.forms:
        raise ValueError("the forms are not words")
    _check_lengths(len(unpack(links.first, np.uint64)), unpack(links.other, np.uint64))
    unpack(links.addresses, np.uint64)
    if (result.vectors is not None) != bool(recipe.dimensions):
        raise ValueError("vectors are missing or unexpected")
    if result.vectors is not None:
        vectors = result.vectors
        rows = unpack(vectors.rows, np.int8)
        scales = unpack(vectors.scales, np.float32)
        _check_lengths(recipe.dimensions, range(vectors.dimensions))
        _check_lengths(count * recipe.dimensions, rows)
        _check_lengths(count, scales)
        pieces = unpack(vectors.pieces, np.uint32)
        _check_matrix(unpack(vectors.offsets, np.uint32), count, len(pieces))
        if not np.isfinite(scales).all():
            raise ValueError("not a number")


def _check_matrix(offsets: NDArray[Any], rows: int, entries: int) -> None:
    _check_lengths(rows + 1, offsets)
    if offsets[0] != 0 or offsets[-1] != entries or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("the offsets do not ascend")


def _check_lengths(length: int, *columns: Sequence[Any] | NDArray[Any]) -> None:
    if any(len(column) != length for column in columns):
        raise ValueError("the columns have unequal lengths")
