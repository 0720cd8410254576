"""Ports that no process is given by chance, so that nobody connects but who was told of one.

A port that was bound as 0 and let go is soon given to another process, on which then falls whatever
still polls it, and whose listener then keeps the one that it was meant for from starting.
"""

import random
import socket
from collections.abc import Iterator
from pathlib import Path

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Of the ports that Linux gives out; others begin above `LAST`."""

FIRST, LAST = 10_000, 32_000


def unassigned_ports() -> Iterator[int]:
    """Yield ports that the kernel gives nobody, if it has any, in an order that nobody else has."""
    first, last = map(int, RANGE.read_text().split()) if RANGE.exists() else (LAST + 1, 65_535)
    ports = [port for port in range(FIRST, LAST + 1) if not first <= port <= last]
    ports = ports or list(range(FIRST, LAST + 1))
    # One by one, since the first is nearly always free, and to shuffle them all asks the kernel for
    # 22,000 random numbers.
    chooser = random.SystemRandom()
    while ports:
        yield ports.pop(chooser.randrange(len(ports)))


def listen_on_any_address() -> socket.socket:
    """Listen on every address of this machine, IPv4 and, where it has it, IPv6."""
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
    """Find a port of loopback that nobody listens on, nor will."""
    with listen_on_any_address() as listener:
        return int(listener.getsockname()[1])
