"""A document's part of an index, in its stored form.

Workers create it, so that the writer need not process single chunks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter

from foundry.documents import Place
from foundry.documents.prepared import (
    ChunkTerms,
    ChunkVectors,
    FormCounts,
    HeadingRows,
    LinkKeys,
    NamedHeading,
    PreparedDocument,
    pack,
)
from foundry.indexing.queries.completions import offered_headings
from foundry.indexing.queries.forms import SEPARATOR
from foundry.indexing.records import chunk_headings, chunk_record, document_record
from foundry.runtime.index.lines import hash_key

# Three times as fast as `json`.
_RECORD = TypeAdapter(dict[str, object])


@dataclass(frozen=True, slots=True)
class DocumentFields:
    """The fields of a document's record."""

    id: str
    title: str
    source: str
    path: str
    url: str | None
    media_type: str
    sha256: str
    bytes: int
    modified: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, str]
    reader: str
    also_at: tuple[Place, ...]


class RecordLines(NamedTuple):
    """n lines of JSON, with their `lengths` including line feeds, and the hashes of their `ids`.

    Both are packed uint64 (n,).
    """

    lines: bytes
    lengths: bytes
    ids: bytes


class IndexEntry(NamedTuple):
    """A document's part of an index.

    `record` is its line of JSON; `offered` has the `offered_headings`, joined by SEPARATOR.
    """

    record: bytes
    chunks: RecordLines
    terms: ChunkTerms
    headings: HeadingRows
    links: LinkKeys
    forms: FormCounts
    offered: str
    vectors: ChunkVectors | None = None

    @property
    def chunk_count(self) -> int:
        """Number of chunks."""
        return len(self.chunks.ids) // 8

    @classmethod
    def of(cls, prepared: PreparedDocument) -> "IndexEntry":
        """Return the entry of a prepared document. Raises ValueError for invalid text."""
        document, chunks = prepared.document, prepared.chunks
        lines = [_encode(chunk_record(document, chunk)) for chunk in chunks]
        above = (chunk_headings(document, chunk) for chunk in chunks)
        return cls(
            record=_encode(document_record(document)),
            chunks=RecordLines(
                b"".join(lines),
                _pack(map(len, lines), np.uint64),
                _pack((hash_key(chunk.id) for chunk in chunks), np.uint64),
            ),
            terms=prepared.terms,
            headings=_heading_rows(prepared.headings),
            links=prepared.links,
            forms=prepared.forms,
            offered=SEPARATOR.join(offered_headings(name for names in above for name in names)),
            vectors=prepared.vectors,
        )


def _heading_rows(headings: Iterable[NamedHeading]) -> HeadingRows:
    headings = list(headings)
    texts = [heading.text.encode("utf-8", "surrogatepass") for heading in headings]
    return HeadingRows(
        hashes=_pack((hash_key(heading.text) for heading in headings), np.uint64),
        chunks=_pack((heading.chunk for heading in headings), np.uint32),
        terms=_pack((heading.term % 2**32 for heading in headings), np.uint32),
        kinds=_pack((heading.kind for heading in headings), np.uint32),
        lengths=_pack(map(len, texts), np.uint64),
        texts=b"".join(texts),
    )


def _encode(record: dict[str, object]) -> bytes:
    return _RECORD.dump_json(record) + b"\n"


def _pack(values: Iterable[int], kind: type[np.unsignedinteger]) -> bytes:
    return pack(np.array([*values], dtype=kind))


def parse_fields(record: bytes) -> DocumentFields:
    """Parse the record of a document. Raises ValueError for anything else."""
    return _fields().validate_json(record)


@cache
def _fields() -> TypeAdapter[DocumentFields]:
    return TypeAdapter(DocumentFields)
