"""Uvicorn's HTTP protocol, with limits for connections, request heads and clients that do not read.

Uvicorn waits for ever for a head that arrives byte by byte and for a client to read its answer,
keeps as many answers in memory as there are clients who do not read them, counts idle connections
like busy ones, and neither it nor its parser limits how large a head may grow. Middleware cannot
help: it runs once a head is complete, and until an answer is written.
"""

import asyncio
import logging
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from .guard import SECURITY_HEADERS
from .metrics import metrics
from .observer import PIECE_BYTES
from .problems import problem_response

HEAD_SECONDS = 10.0
READING_SECONDS = 30.0
"""Within this time a client must have read some of what waits for it, and all of a whole answer."""

MAX_HEAD_BYTES = 65_536

MAX_UNREAD_BYTES = 1 << 25
"""Of answers that clients have not read; the one that has waited longest is dropped first."""

_logger = logging.getLogger(__name__)


class ConnectionState(ServerState):
    """What the connections of one server share.

    Attributes:
        max_connections: Open connections; beyond them the one that is idle longest is closed.
        idle: Connections that wait for a request, the one that waits longest first.
        unread: Connections whose whole answer waits to be read, the one that waits longest first,
            with the bytes of memory that it keeps.
        draining: Whether each answer is the last one of its connection.
    """

    def __init__(self, max_connections: int) -> None:
        super().__init__()
        self.max_connections = max_connections
        self.idle: dict[BoundedHttpProtocol, None] = {}
        self.unread: dict[BoundedHttpProtocol, int] = {}
        self.draining = False

    def keep_unread(self, connection: "BoundedHttpProtocol", size: int) -> None:
        """Remember an answer that waits to be read; make room if there are too many."""
        self.unread.pop(connection, None)
        for other in [other for other in self.unread if other.has_been_read()]:
            del self.unread[other]
        self.unread[connection] = size
        total = sum(self.unread.values())
        while total > MAX_UNREAD_BYTES and len(self.unread) > 1:
            oldest = next(iter(self.unread))
            total -= self.unread.pop(oldest)
            oldest.drop_unread()


class BoundedHttpProtocol(HttpToolsProtocol):
    """Closes connections on which no head arrives within time and size, or no answer is read."""

    _head_deadline: asyncio.TimerHandle | None = None
    _reading_deadline: asyncio.TimerHandle | None = None
    _unread_deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ConnectionState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._shared = server_state

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request; make room if there are too many connections."""
        super().connection_made(transport)
        self._start_clock()
        if len(self.connections) > self._shared.max_connections:
            if self._shared.idle:
                next(iter(self._shared.idle))._make_room()
            else:
                self._refuse(503, "The server has too many connections; try again later.")
        self._shared.idle[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._stop_clock()
        self._stop_reading_clock()
        if self._unread_deadline is not None:
            self._unread_deadline.cancel()
        self._shared.idle.pop(self, None)
        self._shared.unread.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse; refuse a head that is still incomplete and already too large."""
        if self._head_deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._start_clock()
        super().data_received(data)
        if self._head_deadline is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(431, f"A request head may have {MAX_HEAD_BYTES} bytes.")

    def on_headers_complete(self) -> None:
        """Stop the clock and hand the request on."""
        self._stop_clock()
        self._shared.idle.pop(self, None)
        super().on_headers_complete()
        if self._shared.draining:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Give a client that reads slowly its time."""
        piece: Any = self.cycle.scope.get(PIECE_BYTES, 0)
        super().on_response_complete()
        if self.cycle.response_complete:
            self._shared.idle[self] = None
        if self._unread_deadline is not None:
            # It was for the answer before, which has been read or still stands before this one.
            self._unread_deadline.cancel()
            self._unread_deadline = None
        if unread := self.transport.get_write_buffer_size():
            self._unread_deadline = self.loop.call_later(READING_SECONDS, self.drop_unread)
            # The transport may keep all of a piece until its last byte has been taken.
            self._shared.keep_unread(self, max(piece, unread))

    def pause_writing(self) -> None:
        """Give the client of a stream its time to read what waits for it."""
        super().pause_writing()
        self._stop_reading_clock()
        self._reading_deadline = self.loop.call_later(READING_SECONDS, self.drop_unread)

    def resume_writing(self) -> None:
        """The client has read."""
        self._stop_reading_clock()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, msg)

    def finish(self) -> None:
        """Let the answer to what has begun be the last one of this connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False

    def has_been_read(self) -> bool:
        """Whether nothing waits to be read."""
        return not self.transport.get_write_buffer_size()

    def drop_unread(self) -> None:
        """Close the connection if its client has not read everything."""
        if not self.has_been_read():
            self.transport.abort()

    def _make_room(self) -> None:
        self._shared.idle.pop(self)
        self.connections.discard(self)
        self.transport.close()

    def _start_clock(self) -> None:
        self._head_bytes = 0
        self._head_deadline = self.loop.call_later(
            HEAD_SECONDS, self._refuse, 408, f"No complete request in {HEAD_SECONDS:.0f} s."
        )

    def _stop_clock(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _stop_reading_clock(self) -> None:
        if self._reading_deadline is not None:
            self._reading_deadline.cancel()
            self._reading_deadline = None

    def _refuse(self, status: int, detail: str) -> None:
        self._stop_clock()
        if self.transport.is_closing():
            return
        headers = {"Connection": "close"} | ({"Retry-After": "1"} if status == 503 else {})
        response = problem_response(status, detail, headers=headers)
        fields = b"".join(
            b"%b: %b\r\n" % field for field in (*response.raw_headers, *SECURITY_HEADERS)
        )
        phrase = HTTPStatus(status).phrase.encode()
        self.transport.write(
            b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, phrase, fields, bytes(response.body))
        )
        self.transport.close()
        metrics.count("http_connections_refused", str(status))
        said = {"status": status, "client": self.client[0] if self.client else None}
        _logger.info("connection refused", extra={"fields": said})
