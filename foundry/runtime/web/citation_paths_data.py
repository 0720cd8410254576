"""Where this server, which has no pages, answers with a passage: `/chunks/{id}`, as JSON."""

from urllib.parse import quote

from ..index.records import ChunkRecord, DocumentRecord


def citation_path(record: ChunkRecord | DocumentRecord) -> str:
    """The path of a chunk or a document; the id is percent-encoded."""
    kind = "documents" if isinstance(record, DocumentRecord) else "chunks"
    return f"/{kind}/{quote(record.id, safe='')}"
