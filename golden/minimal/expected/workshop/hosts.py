"""Canonical forms of hosts, which are names or addresses.

A dual-stack socket reports 10.0.0.1 as `::ffff:10.0.0.1`, so such mapped addresses become IPv4.
"""

import ipaddress
import re
from functools import lru_cache

# A host in lower case, with an optional port.
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?")
HOSTS_HINT = "write names like docs.example.com or docs.example.com:8443"


@lru_cache(maxsize=1024)
def plain_host(written: str) -> str:
    """Return the canonical form of a host: IPv6 in brackets, without zone; names are unchanged."""
    has_brackets = written.startswith("[") and written.endswith("]")
    try:
        address = plain_address(written[1:-1] if has_brackets else written)
    except ValueError:
        return written
    return f"[{address}]" if address.version == 6 else str(address)


def plain_host_and_port(written: str) -> str:
    """Return a host, and its port if any, in canonical form; unchanged unless it matches HOST."""
    found = HOST.fullmatch(written)
    return written if found is None else plain_host(found["name"]) + written[found.end("name") :]


def plain_address(written: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address; a mapped one becomes IPv4. Raises ValueError for anything else."""
    address = ipaddress.ip_address(written.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address
