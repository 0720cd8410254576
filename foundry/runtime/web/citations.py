"""The address that a citation carries: never empty, and never made from what a caller sent."""

import ipaddress

from ..index.records import ChunkRecord, DocumentRecord
from ..retrieval.settings import settings
from .citation_paths import citation_path

_served_at: str | None = None
_is_served = True


def document_url(record: ChunkRecord | DocumentRecord) -> str:
    """Return the source's own url, else where this server shows the record, else its path.

    Its path is all there is where nobody can reach this process, unless PUBLIC_URL names another.
    Raises ConfigurationError for settings that cannot be used.
    """
    if record.url:
        return record.url
    is_shown = _is_served or settings().public_url is not None
    return public_url() + citation_path(record) if is_shown else record.path


def public_url() -> str:
    """Under which address clients reach this server, without a slash at the end.

    PUBLIC_URL, else where this process listens, else the configured port of this machine.
    """
    chosen = settings()
    return chosen.public_url or _served_at or f"http://127.0.0.1:{chosen.port}"


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
