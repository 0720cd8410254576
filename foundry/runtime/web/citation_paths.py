"""Where this server shows a passage: on its document's page, `/d/{document}#{chunk}`."""

from urllib.parse import quote

from ..index.records import ChunkRecord, DocumentRecord


def citation_path(record: ChunkRecord | DocumentRecord) -> str:
    """The path of a document's page, with the chunk as fragment; both are percent-encoded."""
    if isinstance(record, DocumentRecord):
        return f"/d/{quote(record.id, safe='')}"
    return f"/d/{quote(record.document_id, safe='')}#{quote(record.id, safe='')}"
