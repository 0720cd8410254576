"""The URLs of citations: never empty, and never built from anything a client sent."""

from pathlib import Path
from urllib.parse import quote

from ..hosts import plain_address, plain_host
from ..index.documents import DocumentRecord
from ..index.records import ChunkRecord
from ..settings import read_address

HAS_PAGES = (Path(__file__).parents[1] / "page/document.html").exists()

_served_at = ""


def document_url(record: ChunkRecord | DocumentRecord) -> str:
    """Return a record's own URL, or else its URL on this server, or else its path."""
    if record.url:
        return record.url
    address = public_url()
    return address + record_path(record) if address else record.path


def record_path(record: ChunkRecord | DocumentRecord) -> str:
    """Return the path at which this server shows a record, with ids percent-encoded.

    It is a page if the server has pages, else an API endpoint.
    """
    identifier = quote(record.id, safe="")
    if not HAS_PAGES:
        kind = "documents" if isinstance(record, DocumentRecord) else "chunks"
        return f"/{kind}/{identifier}"
    if isinstance(record, ChunkRecord):
        return f"/d/{quote(record.document_id, safe='')}#{identifier}"
    return f"/d/{identifier}"


def public_url() -> str:
    """Return PUBLIC_URL, or else the address this process listens on; "" if there is none.

    Raises ConfigurationError.
    """
    return read_address("PUBLIC_URL") or _served_at


def public_servers() -> list[dict[str, str]] | None:
    """Return PUBLIC_URL as the servers of an OpenAPI document; None if it is not set.

    Raises ConfigurationError.
    """
    address = read_address("PUBLIC_URL")
    return [{"url": address}] if address else None


def announce(address: str, port: int) -> None:
    """Record where this process listens, and check PUBLIC_URL. Raises ConfigurationError."""
    global _served_at
    host = "127.0.0.1" if plain_address(address).is_unspecified else plain_host(address)
    _served_at = f"http://{host}:{port}"
    public_url()
