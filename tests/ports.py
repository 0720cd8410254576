"""Ports that the kernel does not assign, so that only clients that know one connect to it.

A port that was bound as 0 and released is soon given to another process. That process then gets
requests from clients that still poll the port, and prevents the intended server from starting.
"""

import random
import socket
from collections.abc import Iterator
from pathlib import Path

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Contains the range of ports that Linux assigns; elsewhere, all ports above LAST are assumed."""

FIRST, LAST = 10_000, 32_000


def unassigned_ports() -> Iterator[int]:
    """Yield ports that the kernel does not assign, if there are any, in random order."""
    first, last = map(int, RANGE.read_text().split()) if RANGE.exists() else (LAST + 1, 65_535)
    ports = [port for port in range(FIRST, LAST + 1) if not first <= port <= last]
    ports = ports or list(range(FIRST, LAST + 1))
    # Ports are tried one by one: the first is nearly always free, and shuffling all of them would
    # request 22,000 random numbers from the kernel.
    chooser = random.SystemRandom()
    while ports:
        yield ports.pop(chooser.randrange(len(ports)))


def listen_on_any_address() -> socket.socket:
    """Listen on every address of this machine, IPv4 and, if available, IPv6."""
    for port in unassigned_ports():
        try:
            if socket.has_dualstack_ipv6():
                address = ("::", port)
                return socket.create_server(address, family=socket.AF_INET6, dualstack_ipv6=True)
            return socket.create_server(("0.0.0.0", port))
        except OSError:
            continue
    raise AssertionError("all ports are taken")


def free_port() -> int:
    """Return a loopback port on which nothing listens."""
    with listen_on_any_address() as listener:
        return int(listener.getsockname()[1])
