"""A local SOCKS proxy for other programs, which only connects to checked addresses.

The relay is for git, which resolves hosts itself, follows redirects, and starts ssh. The relay
speaks SOCKS 5 (RFC 1928): it receives a host and a port, and connects like `network` does for web
pages. So every connection is checked when it is made, whether its address comes from a url or from
a redirect.
"""

import ipaddress
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

import httpcore2

from foundry.documents.reasons import Reason
from foundry.fetching.addresses import Policy
from foundry.fetching.failures import FetchError, StoppedError
from foundry.fetching.network import CONNECT_SECONDS, Deadline, Network, PinnedBackend
from foundry.urls import DEFAULT_PORTS, Url, UrlError, parse_host

LOOPBACK = "127.0.0.1"
THROUGH_RELAY = Path(__file__).with_name("through_relay.py")
"""The program that ssh starts as its ProxyCommand."""
BLOCK_BYTES = 65_536

_VERSION, _NO_AUTHENTICATION, _CONNECT = 5, 0, 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_ADDRESS_BYTES = {_IPV4: 4, _IPV6: 16}
_GRANTED, _NOT_ALLOWED, _UNREACHABLE = 0, 2, 4


class Relay:
    """Listens while its context lasts; `failures` are errors of refused or failed connections."""

    def __init__(self, policy: Policy) -> None:
        self.failures: list[FetchError] = []
        self._network = Network(policy)
        self._listener = socket.create_server((LOOPBACK, 0))

    @property
    def port(self) -> int:
        """The local port that it listens on."""
        port: int = self._listener.getsockname()[1]
        return port

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._network.stop.set()
        # Closing alone does not wake a thread in accept().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError, EOFError, StoppedError):
            host, port = _read_request(client)
            try:
                stream = self._connect(host, port)
            except FetchError as error:
                self.failures.append(error)
                refused = error.kind == "refused"
                client.sendall(_reply(_NOT_ALLOWED if refused else _UNREACHABLE))
                return
            server: socket.socket = stream.get_extra_info("socket")
            with server:
                server.settimeout(None)
                client.sendall(_reply(_GRANTED))
                there = threading.Thread(target=_copy, args=(client, server), daemon=True)
                there.start()
                _copy(server, client)
                there.join()

    def _connect(self, host: str, port: int) -> httpcore2.NetworkStream:
        """Connect to one of a host's addresses. Raises FetchError."""
        try:
            canonical = parse_host(host)
        except UrlError as error:
            raise FetchError(error.reason, error.detail, kind="refused") from None
        schemes = {number: scheme for scheme, number in DEFAULT_PORTS.items()}
        url = Url(schemes.get(port, "https"), canonical, port, "/")
        deadline = Deadline(CONNECT_SECONDS, self._network.stop)
        try:
            return PinnedBackend(self._network, url, deadline).connect_tcp(canonical, port)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            raise FetchError(Reason.UNREACHABLE, f"{canonical}: {error}") from None


def _read_request(client: socket.socket) -> tuple[str, int]:
    """Return the host and port that a client asks for. Raises EOFError."""
    version, methods = _read(client, 2)
    if version != _VERSION or _NO_AUTHENTICATION not in _read(client, methods):
        raise EOFError
    client.sendall(bytes([_VERSION, _NO_AUTHENTICATION]))
    version, command, _, kind = _read(client, 4)
    if version != _VERSION or command != _CONNECT:
        raise EOFError
    if kind == _NAME:
        host = _read(client, _read(client, 1)[0]).decode("ascii", "replace")
    elif size := _ADDRESS_BYTES.get(kind):
        host = str(ipaddress.ip_address(_read(client, size)))
    else:
        raise EOFError
    return host, int.from_bytes(_read(client, 2))


def _read(client: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        piece = client.recv(count - len(content))
        if not piece:
            raise EOFError
        content += piece
    return content


def _reply(code: int) -> bytes:
    # The bound address, which clients do not use, is left zero.
    return bytes([_VERSION, code, 0, _IPV4]) + bytes(6)


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until the source ends."""
    with suppress(OSError):
        while content := source.recv(BLOCK_BYTES):
            target.sendall(content)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
