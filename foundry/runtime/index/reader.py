"""An index, opened: its records and filters, mapped from disk, and the lanes that search it."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..retrieval.filters import FilterColumns
from ..retrieval.lanes import QueryEncoder, TermLane, VectorLane
from ..retrieval.tokens import Tokenizer
from .arrays import REBUILD_HINT, open_array
from .errors import IndexUnusableError
from .files import IndexFiles
from .records import (
    ChunkRecord,
    DocumentAnswer,
    DocumentRecord,
    Place,
    SourceSummary,
    join_chunks,
)
from .tables import Records

_CHUNK_FIELDS = itemgetter(*(field.name for field in fields(ChunkRecord)))
_DOCUMENT_FIELDS = itemgetter(
    *(field.name for field in fields(DocumentAnswer) if field.name != "chunks"),
    "chunk_start",
    "chunk_end",
)

Part = TypeVar("Part")


class Index:
    """One published version of an index. Immutable, and safe to share between threads."""

    dense_lane: VectorLane
    """Only of an index that was opened with vectors, as is `encoder`."""

    encoder: QueryEncoder

    def __init__(
        self,
        files: IndexFiles,
        keyword_lane: TermLane,
        dense_lane: VectorLane | None = None,
        encoder: QueryEncoder | None = None,
    ) -> None:
        """Map the records and filters of `files`, to be searched by these lanes.

        Raises IndexUnusableError.
        """
        layout, manifest = files.layout, files.manifest
        chunks, documents = manifest.chunks, manifest.documents
        self.files = files
        self.layout = layout
        self.manifest = manifest
        self.version = manifest.version
        self.chunk_count = chunks
        self.document_count = documents
        self.tokenizer = Tokenizer(manifest.language)
        self.keyword_lane = keyword_lane
        if dense_lane is not None and encoder is not None:
            self.dense_lane = dense_lane
            self.encoder = encoder
        self.document_chunks = open_array(layout.document_chunks, np.uint64, (documents + 1,))
        document_lengths = np.diff(self.document_chunks).astype(np.int64)
        self.filters = FilterColumns(layout, manifest, document_lengths)
        self._chunks = Records(
            layout.chunks,
            open_array(layout.chunk_offsets, np.uint64, (chunks + 1,)),
            open_array(layout.chunk_ids, np.uint64, (2, chunks)),
            _chunk_values,
        )
        self._documents = Records(
            layout.documents,
            open_array(layout.document_offsets, np.uint64, (documents + 1,)),
            open_array(layout.document_ids, np.uint64, (2, -1)),
            _document_of,
        )
        self._parts: dict[Callable[[Any], Any], Any] = {}
        self._parts_lock = threading.Lock()

    def chunk(self, number: int) -> ChunkRecord:
        """Return the chunk with a number from 0 to `chunk_count` - 1."""
        return ChunkRecord(*self._chunks[number])

    def chunk_values(self, number: int) -> list[Any]:
        """Return the fields of a chunk, in order, for a record that has more than these."""
        values: list[Any] = self._chunks[number]
        return values

    def document(self, number: int) -> DocumentRecord:
        """Return the document with a number from 0 to `document_count` - 1."""
        return self._documents[number]

    def document_numbers(self, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers (m,) of the documents that chunks (m,) belong to."""
        ends = self.document_chunks[1:]
        return np.searchsorted(ends, chunks.astype(np.uint64), side="right").astype(np.int64)

    def part(self, open_part: Callable[["Index"], Part]) -> Part:
        """Return what an optional stage reads beside the lanes: opened once, kept as long as the
        index."""
        with self._parts_lock:
            if open_part not in self._parts:
                self._parts[open_part] = open_part(self)
            opened: Part = self._parts[open_part]
            return opened

    def find_chunk(self, chunk_id: str) -> ChunkRecord | None:
        """Return the chunk with this id, if there is one."""
        chunks = map(self.chunk, self._chunks.numbers(chunk_id))
        return next((chunk for chunk in chunks if chunk.id == chunk_id), None)

    def find_document(self, document_id: str) -> DocumentRecord | None:
        """Return the document with this id, or of which it is a copy, if there is one."""
        for found in map(self.document, self._documents.numbers(document_id)):
            if document_id in (found.id, *(place.document_id for place in found.also_at)):
                return found
        return None

    def documents(self, offset: int = 0, limit: int = 100) -> list[DocumentRecord]:
        """Documents in the index's order, at most `limit`, from `offset` on."""
        return [*map(self.document, range(offset, min(self.document_count, offset + limit)))]

    def chunks_of(
        self, document: DocumentRecord, offset: int = 0, limit: int | None = None
    ) -> list[ChunkRecord]:
        """Return the chunks of a document in the order of its text, at most `limit`, from
        `offset` on."""
        numbers = range(document.chunk_start, document.chunk_end)[offset:]
        return [*map(self.chunk, numbers if limit is None else numbers[:limit])]

    def place_of(self, document: DocumentRecord, chunk_id: str) -> int | None:
        """Return how many chunks of the document stand before this one; None if it is not among
        them."""
        for number in self._chunks.numbers(chunk_id):
            is_inside = document.chunk_start <= number < document.chunk_end
            if is_inside and self.chunk(number).id == chunk_id:
                return number - document.chunk_start
        return None

    def sources(self) -> list[SourceSummary]:
        """Return every source, with the documents and chunks that came from it."""
        path = self.layout.report
        try:
            return [
                SourceSummary(entry["name"], entry["documents"], entry["chunks"])
                for entry in json.loads(path.read_bytes())["sources"]
            ]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise IndexUnusableError(f"{path}: unreadable: {error!r}", hint=REBUILD_HINT) from None

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest: the findings, none if all is well."""
        return self.files.verify()


def chunk_of(stored: dict[str, Any]) -> ChunkRecord:
    """Return the chunk that a line of the index holds; KeyError or TypeError if it holds none."""
    return ChunkRecord(*_chunk_values(stored))


def _chunk_values(stored: dict[str, Any]) -> list[Any]:
    values: list[Any]
    *values, copies = _CHUNK_FIELDS(stored)
    values.append([Place(**copy) for copy in copies])
    return values


def _document_of(stored: dict[str, Any]) -> DocumentRecord:
    *values, copies, start, end = _DOCUMENT_FIELDS(stored)
    values += [[Place(**copy) for copy in copies], end - start, start]
    return DocumentRecord(*values)


def read_document(index: Index, document: DocumentRecord) -> Iterator[str]:
    """Return the text of a document of this index, piece by piece; each chunk is read when it is
    due."""
    numbers = range(document.chunk_start, document.chunk_end)
    return join_chunks(map(index.chunk, numbers))
