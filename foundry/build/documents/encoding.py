"""Encode prepared documents as bytes, for workers and for the cache, and check what comes back."""

import hashlib
import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from foundry.build.documents.recipe import Recipe
from foundry.build.documents.signature import Signature
from foundry.readers.sandbox.reading import check_document
from foundry.records import RawDocument, Skipped
from foundry.records.prepared import PreparedDocument, unpack

ZLIB_LEVEL = 1

MAX_UNPACKED_BYTES = 2_000_000_000

_LENGTH = struct.Struct("<I")
_PREPARED = TypeAdapter(PreparedDocument)
_SKIPPED = TypeAdapter(Skipped)


def encode(result: PreparedDocument | Skipped) -> bytes:
    """Return a result as compressed JSON, after the signature of a document that is not skipped."""
    if isinstance(result, Skipped):
        return _LENGTH.pack(0) + zlib.compress(_SKIPPED.dump_json(result), ZLIB_LEVEL)
    signature = Signature.of(result.document).to_bytes()
    content = zlib.compress(_PREPARED.dump_json(result), ZLIB_LEVEL)
    return _LENGTH.pack(len(signature)) + signature + content


def encode_result(raw: RawDocument, result: PreparedDocument | Skipped) -> bytes:
    """Return the same; a result that is no valid text is Skipped."""
    try:
        return encode(result)
    except ValueError as error:
        return encode(Skipped(raw.source, raw.path, "cannot be prepared", type(error).__name__))


def decode(content: bytes) -> PreparedDocument | Skipped:
    """Return what `encode` made bytes of. Raises ValueError when it did not."""
    signature, packed = _cut(content)
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, MAX_UNPACKED_BYTES)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise ValueError("cut off, or too much")
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not signature:
        return _SKIPPED.validate_json(text)
    return _PREPARED.validate_json(text)


def decode_signature(content: bytes) -> Signature | None:
    """Return the signature of a document that `encode` made bytes of; None for a skipped one.

    Raises ValueError as `decode` does.
    """
    signature, _ = _cut(content)
    return Signature.from_bytes(signature) if signature else None


def _cut(content: bytes) -> tuple[bytes, bytes]:
    if len(content) < _LENGTH.size:
        raise ValueError("cut off")
    end = _LENGTH.size + _LENGTH.unpack_from(content)[0]
    return content[_LENGTH.size : end], content[end:]


def content_key(raw: RawDocument) -> bytes:
    """SHA-256 over all that a source delivers of a document, its stamp aside."""
    named = json.dumps(raw.describe(), sort_keys=True).encode()
    return hashlib.sha256(hashlib.sha256(named).digest() + raw.content).digest()


def check_answer(answer: bytes, raw: RawDocument, recipe: Recipe) -> PreparedDocument | Skipped:
    """Return a worker's result, which is trusted no more than the document was.

    One that makes no sense, or tells of another document, is Skipped.
    """
    try:
        result = decode(answer)
        if isinstance(result, Skipped):
            return Skipped(raw.source, raw.path, result.reason, result.detail)
        check_document(result.document, raw)
        _check_parts(result, recipe)
        return result
    except (ValueError, TypeError, OverflowError) as error:
        return Skipped(raw.source, raw.path, "reader failed", type(error).__name__)


def _check_parts(result: PreparedDocument, recipe: Recipe) -> None:
    document = result.document
    if any(chunk.document_id != document.id for chunk in result.chunks):
        raise ValueError("a chunk of another document")
    length, count = len(document.reading.text), len(result.chunks)
    for chunk in result.chunks:
        if not 0 <= chunk.start <= chunk.end <= length:
            raise ValueError("a chunk outside the text")
    terms = result.terms
    numbers = unpack(terms.numbers, np.uint32)
    _check_matrix(unpack(terms.offsets, np.uint32), count, len(numbers))
    _check_lengths(count, unpack(terms.lengths, np.uint32), terms.headings)
    _check_lengths(len(numbers), unpack(terms.counts, np.uint32))
    if not count or (len(numbers) and int(numbers.max()) >= len(terms.vocabulary)):
        raise ValueError("terms that are not there")
    if (result.vectors is not None) != bool(recipe.dimensions):
        raise ValueError("vectors where there are none, or none")
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
    if offsets[0] != 0 or offsets[-1] != entries or (np.diff(offsets.astype(np.int64)) < 0).any():
        raise ValueError("offsets that do not ascend")


def _check_lengths(length: int, *columns: Sequence[Any] | NDArray[Any]) -> None:
    if any(len(column) != length for column in columns):
        raise ValueError("columns of unequal length")
