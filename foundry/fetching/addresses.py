"""Decides which addresses may be connected to: public ones, and hosts from the command line."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from foundry.documents.reasons import Reason
from foundry.fetching.failures import refused
from foundry.urls import Url, format_address, is_named, parse_host_and_port

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

ALLOWING = "to allow this host, name it: --allow-private HOST"
"""Hint: only the user may allow an address, never a project."""

# Addresses that are global in the tables of Python 3.11, but not public: NAT64 for local use, the
# discard prefix, IPv4-compatible addresses, Teredo and its neighbours, 6to4 relays, site-local,
# documentation and segment routing.
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(text)
    for text in (
        *("64:ff9b:1::/48", "100::/64", "::/96", "2001::/23", "fec0::/10", "3fff::/20"),
        *("5f00::/16", "192.0.0.0/24", "192.88.99.0/24"),
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})


def is_public(address: IPAddress) -> bool:
    """Return whether an address, and any address embedded in it, belongs to the public internet.

    An IPv6 address that embeds an IPv4 address (mapped, 6to4, NAT64, ISATAP) is public only if that
    address is. Registries: RFC 6890 and its successors at IANA.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return False
        embedded = _embedded(address)
        if embedded is not None and not is_public(embedded):
            return False
        # Which of these are public depends on the Python version.
        if address.ipv4_mapped or address.sixtofour or address in _NAT64:
            return True
    return (
        address.is_global
        and not (address.is_multicast or address.is_reserved or address.is_unspecified)
        and not any(address in network for network in _NOT_PUBLIC)
    )


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if found := address.ipv4_mapped or address.sixtofour:
        return found
    number = int(address)
    if address in _NAT64 or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


@dataclass(frozen=True, slots=True)
class Policy:
    """The hosts that may be private, each with a port, or None for the scheme's default."""

    allowed: frozenset[tuple[str, int | None]] = frozenset()

    @classmethod
    def parse(cls, entries: Sequence[str]) -> Self:
        """Parse hosts with optional ports. Raises UrlError."""
        return cls(frozenset(parse_host_and_port(entry) for entry in entries))

    def check(self, url: Url, address: IPAddress) -> None:
        """Raise FetchError unless this address of the url's host may be connected to."""
        if is_public(address):
            return
        # An allowed name must not resolve to special addresses, such as the metadata service of a
        # cloud; these must be allowed by address.
        is_usual = address.is_private or address in ipaddress.ip_network("100.64.0.0/10")
        is_usual = is_usual and not (
            address.is_link_local or address.is_multicast or address.is_unspecified
        )
        is_literal = format_address(address) == url.host
        if is_named(url, self.allowed) and (is_usual or is_literal):
            return
        shown = url.host if is_literal else f"{url.host} is {address}"
        raise refused(Reason.PRIVATE_ADDRESS, shown)

    def check_literal(self, url: Url) -> None:
        """Raise FetchError if the host is an address that may not be connected to."""
        try:
            address = ipaddress.ip_address(url.host)
        except ValueError:
            return
        self.check(url, address)
