"""The documents of an index: records, chunks in order, and links."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexUnusableError, cause_of
from .layout import open_array
from .protocols import Records
from .reader import OpenedIndex
from .records import ChunkRecord, Place, Record


@dataclass(frozen=True, slots=True)
class DocumentAnswer(Record):
    """A document with its number of chunks and the places of its unindexed copies."""

    id: str
    title: str
    source: str
    path: str
    url: str | None
    media_type: str
    sha256: str
    bytes: int
    modified: str | None
    tags: list[str]
    metadata: dict[str, str]
    reader: str
    also_at: list[Place]
    chunks: int

    def places(self) -> list[Place]:
        """Return the places of the document and of its copies."""
        return [Place(self.id, self.source, self.path, self.url, self.title), *self.also_at]


@dataclass(frozen=True, slots=True)
class DocumentRecord(DocumentAnswer):
    """A document in the index; its chunks are consecutive from `chunk_start`."""

    chunk_start: int = field(metadata={"exclude": True})


@dataclass(frozen=True, slots=True)
class SourceSummary(Record):
    """A source, with its numbers of documents and chunks."""

    name: str
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class SourceList(Record):
    """All sources of the index."""

    sources: list[SourceSummary]


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """The m documents of an index: records, and the offsets (m + 1,) of their chunks."""

    lines: Records
    chunk_lines: Records
    first_chunks: NDArray[np.uint64]
    sources: Callable[[], list[SourceSummary]]  # With their numbers of documents and chunks
    link_ends: NDArray[np.uint64]  # (m + 1,) offsets into `linked`
    linked: NDArray[np.uint32]  # Numbers of linked documents

    @classmethod
    def open(cls, index: OpenedIndex) -> "Documents":
        """Memory-map records, chunk offsets and links. Raises IndexUnusableError."""
        layout, count = index.layout, index.manifest.documents
        link_ends = open_array(layout.link_offsets, np.uint64, (count + 1,))
        paths = layout.documents, layout.document_offsets, layout.document_ids
        return cls(
            index.open_lines(*paths, count),
            # Parts are passed, since a reference to the index would keep a replaced one in memory.
            index.chunk_lines,
            open_array(layout.document_chunks, np.uint64, (count + 1,)),
            cache(partial(_read_sources, layout.report)),
            link_ends,
            open_array(layout.link_targets, np.uint32, (int(link_ends[-1]),)),
        )

    def each(self, numbers: Iterable[int]) -> Iterator[DocumentRecord]:
        """Yield documents by number, reading each lazily."""
        spans = ((number, *self.first_chunks[number : number + 2].tolist()) for number in numbers)
        rows = ((n, {"chunks": end - start, "chunk_start": start}) for n, start, end in spans)
        return self.lines.each(DocumentRecord, rows)

    def find(self, document_id: str) -> DocumentRecord | None:
        """Return the document with this id, or with a copy of this id; None if there is none."""
        found = self.each(self.lines.numbers(document_id))
        named = (one for one in found if document_id in {at.document_id for at in one.places()})
        return next(named, None)

    def page(self, offset: int = 0, limit: int = 100) -> Iterator[DocumentRecord]:
        """Yield up to `limit` documents from `offset`, in order, reading each lazily."""
        return self.each(range(len(self.first_chunks) - 1)[offset:][:limit])

    def chunks_of(
        self, document: DocumentRecord, offset: int = 0, limit: int | None = None
    ) -> Iterator[ChunkRecord]:
        """Yield up to `limit` chunks of a document from `offset`, reading each lazily."""
        first, end = document.chunk_start, document.chunk_start + document.chunks
        numbers = range(first, end)[offset:][:limit]
        return self.chunk_lines.each(ChunkRecord, ((number, {}) for number in numbers))

    def linked_from(self, document: DocumentRecord) -> list[int]:
        """Return the numbers of the documents that a document links to, in order of appearance."""
        number = int(self.first_chunks.searchsorted(document.chunk_start, "right")) - 1
        targets: list[int] = self.linked[slice(*self.link_ends[number : number + 2])].tolist()
        return targets

    def place_of(self, document: DocumentRecord, chunk_id: str) -> int | None:
        """Return the position of a chunk in a document, from 0; None if the chunk is not in it."""
        for number in self.chunk_lines.numbers(chunk_id):
            place = number - document.chunk_start
            found = self.chunks_of(document, place, 1) if place >= 0 else ()
            if any(chunk.id == chunk_id for chunk in found):
                return place
        return None


def _read_sources(report: Path) -> list[SourceSummary]:
    try:
        listed = json.loads(report.read_bytes())["sources"]
        return [SourceSummary(one["name"], one["documents"], one["chunks"]) for one in listed]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise IndexUnusableError(f"{report}: unreadable: {cause_of(error)}") from None


def join_chunks(chunks: Iterable[ChunkRecord]) -> Iterator[str]:
    """Yield the text of chunks without overlaps; gaps become line breaks or a space."""
    end = line = -1
    for chunk in chunks:
        position = chunk.position
        if 0 <= end < position["start"]:
            yield "\n" * min(position["line_start"] - line, 2) or " "
        yield chunk.text[max(0, end - position["start"]) if end >= 0 else 0 :]
        end = max(end, position["end"])
        line = max(line, position["line_end"])
