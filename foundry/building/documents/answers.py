"""Validates the answers of workers, which are not trusted: a parser may have been exploited.

This runs in the process that each worker was forked from, outside the sandbox. That process only
passes on valid answers.

An answer must consist of valid records of the requested document, and of arrays that fit together.
Whether they reflect the document's content is not checked: a worker could return any text.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from foundry.building.documents.encoding import StoredDocument, decode
from foundry.building.documents.recipe import Recipe
from foundry.building.documents.signature import Signature
from foundry.documents import RawDocument, Skipped
from foundry.documents.prepared import ChunkTerms, ChunkVectors, HeadingRows, unpack
from foundry.documents.reasons import Reason
from foundry.indexing.entries import DocumentFields, RecordLines
from foundry.indexing.keyword.headings import Kind
from foundry.indexing.queries.forms import SEPARATOR
from foundry.readers import identity_of
from foundry.runtime.index.records import ChunkRecord, Position

_KINDS = max(Kind)
_SPAN = {"start", "end", "line_start", "line_end"}
_PARENT = {"parent_start", "parent_end"}
_POSITION = {*_SPAN, *_PARENT, "page", "page_label"}


def check_answer(answer: bytes, raw: RawDocument, recipe: Recipe) -> StoredDocument | Skipped:
    """Validate and return a worker's result, which is not trusted.

    An invalid result, or one for another document, becomes Skipped.
    """
    try:
        result = decode(answer)
        if isinstance(result, Skipped):
            return Skipped(raw.source, raw.path, result.reason, result.detail)
        _check_document(result.fields, raw)
        signature = Signature.from_bytes(result.signature)
        if signature[:2] != (result.fields.source, result.fields.path):
            raise ValueError("another document's signature")
        if result.reader != result.fields.reader:
            raise ValueError("another reader")
        _check_parts(result, recipe)
        return result
    except (ValueError, TypeError, OverflowError) as error:
        return Skipped(raw.source, raw.path, Reason.READER_FAILED, type(error).__name__)


def _check_document(document: DocumentFields, raw: RawDocument) -> None:
    stated = (document.id, document.source, document.bytes, document.sha256, document.path)
    if stated != identity_of(raw) or document.also_at:
        raise ValueError("another document")


def _check_parts(result: StoredDocument, recipe: Recipe) -> None:
    entry, facts = result.entry, result.facts
    _check_line(entry.record)
    count = _check_records(entry.chunks, result.fields)
    if not count or facts.hurried < -1:
        raise ValueError("no chunks, or a negative count")
    _check_terms(entry.terms, count)
    _check_headings(entry.headings, count, len(entry.terms.vocabulary))
    words = entry.forms.forms.replace(SEPARATOR, "").replace("_", "")
    forms = entry.forms.forms.split(SEPARATOR) if words else []
    _check_sizes(4 * len(forms), entry.forms.counts)
    if not all(forms) or (words and not words.isalnum()):
        raise ValueError("the forms are not words")
    links = entry.links
    _check_sizes(len(links.first), links.other)
    unpack(links.first, np.uint64)
    unpack(links.addresses, np.uint64)
    if (entry.vectors is not None) != bool(recipe.dimensions):
        raise ValueError("vectors are missing or unexpected")
    if entry.vectors is not None:
        _check_vectors(entry.vectors, count, recipe.dimensions)


def _check_line(line: bytes) -> None:
    if line.find(b"\n") != len(line) - 1:
        raise ValueError("a record is not one line")


def _check_records(chunks: RecordLines, document: DocumentFields) -> int:
    """Check the records of chunks; return their number."""
    *lines, rest = chunks.lines.split(b"\n")
    lengths = np.array([*map(len, lines)], dtype=np.uint64) + np.uint64(1)
    if rest or lengths.tobytes() != chunks.lengths:
        raise ValueError("the records are not lines of these lengths")
    _check_sizes(8 * len(lines), chunks.ids)
    validate = _records().validator.validate_json
    place = document.id, document.source, document.path
    for line in lines:
        record = validate(line)
        if (record.document_id, record.source, record.path) != place or record.also_at:
            raise ValueError("another document's chunk")
        _check_position(record.position)
    return len(lines)


def _check_position(position: Position) -> None:
    names = position.keys()
    if not _SPAN <= names <= _POSITION or len(_PARENT & names) == 1:
        raise ValueError("a position is incomplete")
    if any(isinstance(value, str) != (name == "page_label") for name, value in position.items()):
        raise ValueError("a position is not a number")


def _check_terms(terms: ChunkTerms, count: int) -> None:
    numbers = unpack(terms.numbers, np.uint32)
    _check_matrix(unpack(terms.offsets, np.uint32), count, len(numbers))
    _check_sizes(4 * count, terms.lengths)
    _check_sizes(len(terms.numbers), terms.counts)
    if len(numbers) and int(numbers.max()) >= len(terms.vocabulary):
        raise ValueError("a term number is out of range")


def _check_headings(headings: HeadingRows, count: int, terms: int) -> None:
    entries = len(headings.chunks) // 4
    _check_sizes(4 * entries, headings.chunks, headings.terms, headings.kinds)
    _check_sizes(8 * entries, headings.hashes, headings.lengths)
    if int(unpack(headings.lengths, np.uint64).sum()) != len(headings.texts):
        raise ValueError("the headings have the wrong length")
    headings.texts.decode("utf-8", "surrogatepass")
    if not entries:
        return
    # A term number with all bits set means "no term", and becomes 0 here.
    known = unpack(headings.terms, np.uint32) + np.uint32(1)
    chunks, kinds = unpack(headings.chunks, np.uint32), unpack(headings.kinds, np.uint32)
    if chunks.max() >= count or kinds.max() > _KINDS or known.max() > terms:
        raise ValueError("a heading has no chunk, term or kind")


def _check_vectors(vectors: ChunkVectors, count: int, dimensions: int) -> None:
    if vectors.dimensions != dimensions:
        raise ValueError("the vectors have the wrong length")
    _check_sizes(count * dimensions, vectors.rows)
    _check_sizes(4 * count, vectors.scales)
    unpack(vectors.pieces, np.uint32)
    if not np.isfinite(unpack(vectors.scales, np.float32)).all():
        raise ValueError("not a number")


def _check_matrix(offsets: NDArray[Any], rows: int, entries: int) -> None:
    is_whole = len(offsets) == rows + 1 and offsets[0] == 0 and offsets[-1] == entries
    if not is_whole or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("the offsets do not ascend")


def _check_sizes(size: int, *columns: Sequence[int]) -> None:
    if any(len(column) != size for column in columns):
        raise ValueError("the columns have unequal lengths")


@cache
def _records() -> TypeAdapter[ChunkRecord]:
    adapter = TypeAdapter(ChunkRecord)
    adapter.rebuild()
    return adapter
