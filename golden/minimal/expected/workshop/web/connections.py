"""Limits the connections of a server, and the time that each may take to send and to read.

Uvicorn itself waits forever for the rest of a request head, and buffers the whole response for a
client that does not read it; middleware would run too late to limit that.
"""

import asyncio
import logging
import resource
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from .middleware import SECURITY_HEADERS
from .problems import ProblemDocument

HEAD_SECONDS = 10.0
MAX_HEAD_BYTES = 65_536
READING_SECONDS = 30.0
MAX_UNREAD_BYTES = 1 << 25
MIN_CONNECTIONS = 4
SPARE_FILES = 56  # Reserved for two indexes during a reload, and for calls to services

_logger = logging.getLogger(__name__)


class Connections(ServerState):
    """The state of all connections: which are idle, and the unread bytes of each."""

    def __init__(self, max_connections: int) -> None:
        super().__init__()
        self.max_connections = max_connections
        self.idle: dict[BoundedHttpProtocol, None] = {}
        self.unread: dict[BoundedHttpProtocol, int] = {}
        self.draining = False

    def keep_unread(self, connection: "BoundedHttpProtocol", size: int) -> None:
        """Record the unread bytes of a connection; if the total is too high, drop the oldest."""
        self.unread[connection] = size
        while len(self.unread) > 1 and sum(self.unread.values()) > MAX_UNREAD_BYTES:
            oldest = next(iter(self.unread))
            del self.unread[oldest]
            oldest.transport.abort()


class BoundedHttpProtocol(HttpToolsProtocol):
    """Closes connections whose head is too slow or too large, or whose client does not read."""

    def __init__(self, *, server_state: Connections, **others: Any) -> None:
        super().__init__(server_state=server_state, **others)
        self._shared = server_state
        self._head_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; if there are too many connections, close an idle one or this one."""
        super().connection_made(transport)
        # By default, `pause_writing` is called only above 64 KiB.
        transport.set_write_buffer_limits(high=0)
        self._expect_head()
        if len(self.connections) > self._shared.max_connections:
            if oldest := next(iter(self._shared.idle), None):
                del self._shared.idle[oldest]
                self.connections.discard(oldest)
                oldest.transport.close()
            else:
                self._refuse(503, "The server has too many connections; try again later.")
        self._shared.idle[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_head()
        self._end_reading()
        self._shared.idle.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data; reject a head that is incomplete and already too large."""
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()
        super().data_received(data)
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(431, f"A request head may have at most {MAX_HEAD_BYTES} bytes.")

    def on_headers_complete(self) -> None:
        """Pass the request on."""
        self._end_head()
        self._shared.idle.pop(self, None)
        super().on_headers_complete()
        if self._shared.draining:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Become idle, unless another request was pipelined."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._shared.idle[self] = None

    def pause_writing(self) -> None:
        """Start the timeout of READING_SECONDS for the client to read the written data."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(READING_SECONDS, self.transport.abort)
        self._shared.keep_unread(self, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Cancel the timeout, since the client has read everything."""
        self._end_reading()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Reject a request that is not HTTP."""
        self._refuse(400, msg)

    def _expect_head(self) -> None:
        self._head_bytes = 0
        detail = f"No complete request in {HEAD_SECONDS:.0f} s."
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse, 408, detail)

    def _end_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_reading(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
        self._shared.unread.pop(self, None)

    def _refuse(self, status: int, detail: str) -> None:
        self._end_head()
        if self.transport.is_closing():
            return
        headers = {"Connection": "close"} | ({"Retry-After": "1"} if status == 503 else {})
        response = ProblemDocument.of(status, detail, headers).response()
        fields = [b"%b: %b\r\n" % field for field in (*response.raw_headers, *SECURITY_HEADERS)]
        self.transport.write(b"".join([STATUS_LINE[status], *fields, b"\r\n", response.body]))
        self.transport.close()
        client = self.client[0] if self.client else None
        _logger.info("connection refused", extra={"fields": {"status": status, "client": client}})


def limit_connections(wanted: int) -> int:
    """Raise the limit on open files, and return how many of the wanted connections it allows.

    Returns at least MIN_CONNECTIONS, unless fewer are wanted.
    """
    files, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        files = hard
    if files == resource.RLIM_INFINITY:
        return wanted
    # An eighth more connections are accepted before one is closed.
    return min(wanted, max(MIN_CONNECTIONS, (files - SPARE_FILES) * 8 // 9))
