"""An opened index: its records and filters, mapped from disk, and the lanes that search it."""

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from ..retrieval.candidates import QueryEncoder, TermLane, VectorLane
from ..retrieval.filters import FilterColumns
from ..retrieval.tokens import Tokenizer
from .arrays import Records, open_array
from .errors import IndexUnusableError
from .layout import IndexFiles
from .records import ChunkRecord, DocumentRecord, SourceSummary, join_chunks

Made = TypeVar("Made")


class Index:
    """One published version of an index. Immutable, and safe to share between threads."""

    # Only of an index that was opened with vectors.
    dense_lane: VectorLane
    encoder: QueryEncoder

    def __init__(
        self,
        files: IndexFiles,
        keyword_lane: TermLane,
        dense_lane: VectorLane | None = None,
        encoder: QueryEncoder | None = None,
    ) -> None:
        """Map the records and filters of `files`. Raises IndexUnusableError."""
        layout, manifest = files.layout, files.manifest
        chunks, documents = manifest.chunks, manifest.documents
        self.layout = layout
        self.manifest = manifest
        self.version = manifest.version
        self.chunk_count = chunks
        self.document_count = documents
        self._files = files
        self.tokenizer = Tokenizer(manifest.language)
        self.keyword_lane = keyword_lane
        if dense_lane is not None and encoder is not None:
            self.dense_lane = dense_lane
            self.encoder = encoder
        self.document_chunks = open_array(layout.document_chunks, np.uint64, (documents + 1,))
        document_lengths = np.diff(self.document_chunks).astype(np.int64)
        self.filters = FilterColumns(layout, manifest, document_lengths)
        self._chunks = Records(layout.chunks, layout.chunk_offsets, layout.chunk_ids, chunks)
        self._documents = Records(
            layout.documents, layout.document_offsets, layout.document_ids, documents
        )

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest; return the findings."""
        return self._files.verify()

    def chunk(self, number: int) -> ChunkRecord:
        """Return the chunk with a number from 0 to `chunk_count` - 1."""
        return self.read_chunk(number, ChunkRecord.from_json)

    def read_chunk(self, number: int, make: Callable[[dict[str, Any]], Made]) -> Made:
        """Return what `make` makes of the stored values of a chunk."""
        return self._chunks.read(number, make)

    def document(self, number: int) -> DocumentRecord:
        """Return the document with a number from 0 to `document_count` - 1."""
        bounds = self.document_chunks[number : number + 2].tolist()
        return self._documents.read(number, lambda line: DocumentRecord.from_json(line, *bounds))

    def find_chunk(self, chunk_id: str) -> ChunkRecord | None:
        """Return the chunk with this id, if there is one."""
        chunks = map(self.chunk, self._chunks.numbers(chunk_id))
        return next((chunk for chunk in chunks if chunk.id == chunk_id), None)

    def find_document(self, document_id: str) -> DocumentRecord | None:
        """Return the document with this id or with a copy of this id, if there is one."""
        for found in map(self.document, self._documents.numbers(document_id)):
            if document_id in (found.id, *(place.document_id for place in found.also_at)):
                return found
        return None

    def documents(self, offset: int = 0, limit: int = 100) -> list[DocumentRecord]:
        """Return at most `limit` documents from `offset` on, in the order of the index."""
        return [*map(self.document, range(offset, min(self.document_count, offset + limit)))]

    def chunks_of(
        self, document: DocumentRecord, offset: int = 0, limit: int | None = None
    ) -> list[ChunkRecord]:
        """Return at most `limit` chunks of a document from `offset` on, in order."""
        numbers = range(document.chunk_start, document.chunk_end)[offset:]
        return [*map(self.chunk, numbers if limit is None else numbers[:limit])]

    def place_of(self, document: DocumentRecord, chunk_id: str) -> int | None:
        """Return the number of a document's chunks before this one; None if it is in another."""
        for number in self._chunks.numbers(chunk_id):
            is_inside = document.chunk_start <= number < document.chunk_end
            if is_inside and self.chunk(number).id == chunk_id:
                return number - document.chunk_start
        return None

    def sources(self) -> list[SourceSummary]:
        """Return every source, with the numbers of its documents and chunks."""
        path = self.layout.report
        try:
            return [
                SourceSummary(entry["name"], entry["documents"], entry["chunks"])
                for entry in json.loads(path.read_bytes())["sources"]
            ]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise IndexUnusableError(f"{path}: unreadable: {error!r}") from None


def read_document(index: Index, document: DocumentRecord) -> Iterator[str]:
    """Yield the text of a document, reading each chunk when it is due."""
    return join_chunks(map(index.chunk, range(document.chunk_start, document.chunk_end)))
