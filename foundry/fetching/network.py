"""Connections to checked addresses only, each with a deadline.

A host is resolved once per connection, all its addresses are checked, and the connection goes to
exactly one of these, so a second DNS answer has no effect (DNS rebinding). TLS and the Host header
use the name. Proxies in the environment are not used.
"""

import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpcore2

from foundry.documents.reasons import Reason
from foundry.fetching.addresses import Policy
from foundry.fetching.failures import FetchError, StoppedError
from foundry.urls import Url

CONNECT_SECONDS = 10.0
"""Timeout of connecting, and of a TLS handshake; a stopped build still waits for either."""

SLICE_SECONDS = 0.2
"""How often a waiting read checks whether the build was stopped."""

Resolve = Callable[[str, int], list[str]]
Connect = Callable[[str, int, float], httpcore2.NetworkStream]


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a host, from the system's resolver. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass
class Network:
    """Access to the network; tests replace `resolve` and `connect`."""

    policy: Policy = field(default_factory=Policy)
    resolve: Resolve = resolve
    connect: Connect = httpcore2.SyncBackend().connect_tcp
    stop: threading.Event = field(default_factory=threading.Event)

    @cached_property
    def ssl_context(self) -> ssl.SSLContext:
        """The trusted certificates; loaded on first use, which takes tens of milliseconds."""
        return httpcore2.default_ssl_context()


class Deadline:
    """The end of one exchange."""

    def __init__(self, seconds: float, stop: threading.Event) -> None:
        self._end = time.monotonic() + seconds
        self._seconds = seconds
        self._stop = stop

    def left(self) -> float:
        """Return the seconds left. Raises FetchError if none are, StoppedError after a stop."""
        if self._stop.is_set():
            raise StoppedError
        left = self._end - time.monotonic()
        if left <= 0:
            raise FetchError(Reason.TOO_SLOW, f"no complete answer within {self._seconds:g} s")
        return left

    def slice(self) -> float:
        """Return the seconds to wait before checking again; raises like `left`."""
        return min(self.left(), SLICE_SECONDS)


class PinnedBackend(httpcore2.NetworkBackend):
    """Opens the connection of one exchange; `url` determines which host may be private.

    `has_ended` is True once the server has closed the connection.
    """

    def __init__(self, network: Network, url: Url, deadline: Deadline) -> None:
        self._network = network
        self._url = url
        self._deadline = deadline
        self.has_ended = False

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002
        port: int,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of the url's host that answers; arguments are ignored.

        Raises FetchError if the host has no address, or one that is not allowed.
        """
        addresses = self._resolve()
        for address in addresses:
            self._network.policy.check(self._url, ipaddress.ip_address(address))
        for number, address in enumerate(addresses):
            share = self._deadline.left() / (len(addresses) - number)
            try:
                stream = self._network.connect(address, self._url.port, min(share, CONNECT_SECONDS))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(addresses) - 1:
                    raise
            else:
                return _TimedStream(stream, self._deadline, self._end)
        raise FetchError(Reason.HOST_NOT_FOUND, self._url.host)

    def _end(self) -> None:
        self.has_ended = True

    def _resolve(self) -> list[str]:
        """Resolve a host in a thread that can be abandoned: resolvers have no timeout."""
        try:
            return [str(ipaddress.ip_address(self._url.host))]
        except ValueError:
            pass
        answers: queue.Queue[list[str] | OSError | UnicodeError] = queue.Queue()

        def ask() -> None:
            try:
                answers.put(self._network.resolve(self._url.host, self._url.port))
            except (OSError, UnicodeError) as error:
                answers.put(error)

        threading.Thread(target=ask, daemon=True).start()
        while True:
            try:
                answer = answers.get(timeout=self._deadline.slice())
                break
            except queue.Empty:
                continue
        if isinstance(answer, socket.gaierror) and answer.errno == socket.EAI_AGAIN:
            raise FetchError(Reason.HOST_NOT_FOUND, self._url.host, is_temporary=True)
        if isinstance(answer, Exception) or not answer:
            raise FetchError(Reason.HOST_NOT_FOUND, self._url.host)
        return answer


class _TimedStream(httpcore2.NetworkStream):
    """A stream on which no wait lasts beyond the deadline, even if bytes keep arriving slowly.

    `on_end` is called when the other side has closed it.
    """

    def __init__(
        self, inner: httpcore2.NetworkStream, deadline: Deadline, on_end: Callable[[], None]
    ) -> None:
        self._inner = inner
        self._deadline = deadline
        self._on_end = on_end

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        while True:
            try:
                content = self._inner.read(max_bytes, self._deadline.slice())
            except httpcore2.ReadTimeout:
                continue
            if not content:
                self._on_end()
            return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._inner.write(buffer, self._deadline.left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        seconds = min(self._deadline.left(), CONNECT_SECONDS)
        inner = self._inner.start_tls(ssl_context, server_hostname, seconds)
        return _TimedStream(inner, self._deadline, self._on_end)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
