"""The address that a citation carries: never empty, and never made from what a caller sent."""

import ipaddress
from urllib.parse import quote

from ..index.records import ChunkRecord, DocumentRecord
from ..retrieval.settings import settings

_served_at: str | None = None
_is_served = True
_has_pages = True


def document_url(record: ChunkRecord | DocumentRecord) -> str:
    """Return the source's own url, else where this server shows the record, else its path.

    Its path is all there is where nobody can reach this process, unless PUBLIC_URL names another.
    Raises ConfigurationError for settings that cannot be used.
    """
    if record.url:
        return record.url
    is_shown = _is_served or settings().public_url is not None
    if not is_shown:
        return record.path
    return public_url() + (page_path(record) if _has_pages else data_path(record))


def page_path(record: ChunkRecord | DocumentRecord) -> str:
    """Return the path of a document's page, with the chunk as fragment, both percent-encoded."""
    if isinstance(record, DocumentRecord):
        return f"/d/{quote(record.id, safe='')}"
    return f"/d/{quote(record.document_id, safe='')}#{quote(record.id, safe='')}"


def data_path(record: ChunkRecord | DocumentRecord) -> str:
    """Return the path of a chunk or a document as JSON; the id is percent-encoded."""
    kind = "documents" if isinstance(record, DocumentRecord) else "chunks"
    return f"/{kind}/{quote(record.id, safe='')}"


def public_url() -> str:
    """Under which address clients reach this server, without a slash at the end.

    PUBLIC_URL, else where this process listens, else the configured port of this machine.
    """
    chosen = settings()
    return chosen.public_url or _served_at or f"http://127.0.0.1:{chosen.port}"


def announce_no_pages() -> None:
    """Say that this server has no pages, so that citations lead to its JSON."""
    global _has_pages
    _has_pages = False


def announce_nowhere() -> None:
    """Say that this process listens at no address."""
    global _is_served
    _is_served = False


def announce(address: str, port: int) -> None:
    """Say where this process listens: an IP address and a port."""
    global _served_at
    ip = ipaddress.ip_address(address.partition("%")[0])
    host = "127.0.0.1" if ip.is_unspecified else f"[{ip}]" if ip.version == 6 else str(ip)
    _served_at = f"http://{host}:{port}"
