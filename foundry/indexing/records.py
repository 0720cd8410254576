"""Records of documents and chunks as they are stored in an index."""

from dataclasses import asdict

from foundry.documents import Chunk, Document
from foundry.runtime.index.records import informative_title
from foundry.runtime.retrieval.journal import MAX_TOP_K

MAX_CHUNK_PLACES = MAX_TOP_K
"""Maximum number of copies' places that a chunk lists; its document lists all."""


def chunk_headings(document: Document, chunk: Chunk) -> list[str]:
    """Return the headings above a chunk, like `ChunkRecord.headings`."""
    section = chunk.heading_path
    return [*informative_title(document.title, document.id, section), *section]


def chunk_record(document: Document, chunk: Chunk) -> dict[str, object]:
    """Return a record in the field order of `ChunkRecord`, since it is read by position."""
    return {
        "id": chunk.id,
        "document_id": document.id,
        "title": document.title,
        "text": chunk.text,
        "section": chunk.heading_path,
        "position": chunk.position(document.reading.page_labels),
        "source": document.source,
        "path": document.path,
        "url": document.url,
        "tags": document.tags,
        "modified": document.modified,
        "also_at": [asdict(place) for place in document.also_at[:MAX_CHUNK_PLACES]],
    }


def document_record(document: Document) -> dict[str, object]:
    """Return a record in the field order of `DocumentRecord`, since it is read by position."""
    return {
        "id": document.id,
        "title": document.title,
        "source": document.source,
        "path": document.path,
        "url": document.url,
        "media_type": document.media_type,
        "sha256": document.sha256,
        "bytes": document.bytes,
        "modified": document.modified,
        "tags": document.tags,
        "metadata": dict(sorted(document.metadata.items())),
        "reader": document.reader,
        "also_at": [asdict(place) for place in document.also_at],
    }
