"""Uvicorn, with limits for connections, request heads and clients that do not read.

Uvicorn waits for ever for a head that arrives byte by byte and for a client to read its answer,
keeps as many answers in memory as there are clients who do not read them, counts idle connections
like busy ones, and neither it nor its parser limits how large a head may grow. Middleware cannot
help: it runs once a head is complete, and until an answer is written.
"""

import asyncio
import logging
import resource
import select
import socket
import time
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from .limits import PIECE_BYTES, SECURITY_HEADERS
from .observing import CONNECTIONS_REFUSED
from .problems import Problem

HEAD_SECONDS = 10.0
READING_SECONDS = 30.0
"""Within this time a client must have read some of what waits for it, and all of a whole answer."""

MAX_HEAD_BYTES = 65_536
MAX_UNREAD_BYTES = 1 << 25
"""Of answers that clients have not read; the one that has waited longest is dropped first."""

KEEP_ALIVE_SECONDS = 5
SHUTDOWN_SECONDS = 30
IDLE_SECONDS = 1.0
"""When the server stops, how long an open connection has for a request that is on its way."""

BACKLOG = 2048
ACCEPTED_AT_ONCE = 64
"""Connections taken from the kernel in a row, at most; they are counted only after that."""

SPARE_FILES = 32
"""Files beside connections: a second index while the first is being replaced, calls to others."""

MIN_CONNECTIONS = 4

_logger = logging.getLogger(__name__)


class Connections(ServerState):
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

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: Connections,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._shared = server_state
        self._head_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request; make room if there are too many connections."""
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > self._shared.max_connections:
            if self._shared.idle:
                next(iter(self._shared.idle)).make_room()
            else:
                self._refuse(503, "The server has too many connections; try again later.")
        self._shared.idle[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._end_head()
        self._end_reading()
        self._shared.idle.pop(self, None)
        self._shared.unread.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse; refuse a head that is still incomplete and already too large."""
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()
        super().data_received(data)
        if self._head_timer is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(431, f"A request head may have {MAX_HEAD_BYTES} bytes.")

    def on_headers_complete(self) -> None:
        """Stop the clock and hand the request on."""
        self._end_head()
        self._shared.idle.pop(self, None)
        super().on_headers_complete()
        if self._shared.draining:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Give the client its time to read a whole answer."""
        piece: Any = self.cycle.scope.get(PIECE_BYTES, 0)
        super().on_response_complete()
        if self.cycle.response_complete:
            self._shared.idle[self] = None
        self._end_reading()
        if unread := self.transport.get_write_buffer_size():
            self._expect_reading()
            # The transport may keep all of a piece until its last byte has been taken.
            self._shared.keep_unread(self, max(piece, unread))

    def pause_writing(self) -> None:
        """Give the client of a stream its time to read what waits for it."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """Stop the clock of a stream; what is left of a whole answer must be read in its time."""
        if self.cycle is None or not self.cycle.response_complete:
            self._end_reading()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, msg)

    def finish(self) -> None:
        """Let the answer to what has begun be the last one of this connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False

    def has_been_read(self) -> bool:
        """Tell whether nothing waits to be read."""
        return not self.transport.get_write_buffer_size()

    def drop_unread(self) -> None:
        """Close the connection if its client has not read everything."""
        if not self.has_been_read():
            self.transport.abort()

    def make_room(self) -> None:
        """Close the connection, which is idle, for another one."""
        self._shared.idle.pop(self)
        self.connections.discard(self)
        self.transport.close()

    def _expect_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(
            HEAD_SECONDS, self._refuse, 408, f"No complete request in {HEAD_SECONDS:.0f} s."
        )

    def _end_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _expect_reading(self) -> None:
        self._end_reading()
        self._reading_timer = self.loop.call_later(READING_SECONDS, self.drop_unread)

    def _end_reading(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _refuse(self, status: int, detail: str) -> None:
        self._end_head()
        if self.transport.is_closing():
            return
        headers = {"Connection": "close"} | ({"Retry-After": "1"} if status == 503 else {})
        response = Problem(status, detail, headers=headers).response()
        fields = b"".join(
            b"%b: %b\r\n" % field for field in (*response.raw_headers, *SECURITY_HEADERS)
        )
        phrase = HTTPStatus(status).phrase.encode()
        self.transport.write(
            b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, phrase, fields, bytes(response.body))
        )
        self.transport.close()
        CONNECTIONS_REFUSED(status).inc()
        said = {"status": status, "client": self.client[0] if self.client else None}
        _logger.info("connection refused", extra={"fields": said})


class Server(uvicorn.Server):
    """Serves an application on sockets that listen, until SIGTERM or SIGINT.

    Then it finishes what has begun: what waits to be accepted is, and an open connection may send
    one more request. Without that, closing would cut off requests that were on their way.
    """

    def __init__(self, app: ASGIApp, max_connections: int) -> None:
        connections = limit_connections(max_connections)
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedHttpProtocol,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                workers=1,
                backlog=max(MIN_CONNECTIONS, min(ACCEPTED_AT_ONCE, connections // 8)),
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._connections = self.server_state = Connections(connections)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        for listener in sockets or []:
            # The event loop has one number for what the kernel keeps and for what it takes.
            listener.listen(BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, finish what has begun, and close every connection."""
        self._connections.draining = True
        for connection in self._connections.connections:
            if isinstance(connection, BoundedHttpProtocol):
                connection.finish()
        closing = time.monotonic() + IDLE_SECONDS
        for listener in sockets or []:
            # The kernel makes no further connections; those that it has made are accepted.
            listener.listen(0)
        while select.select(sockets or [], [], [], 0)[0] and time.monotonic() < closing:
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        # Connections that have just been accepted have not been counted yet.
        await asyncio.sleep(0.02)
        while self._connections.connections and time.monotonic() < closing:
            await asyncio.sleep(0.02)
        await super().shutdown(sockets)


def limit_connections(wanted: int) -> int:
    """Return the connections that open files allow, `wanted` at most; raises the soft limit if
    it can."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = len(list(Path("/dev/fd").iterdir())) + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted + needed:
        raised = wanted + needed if hard == resource.RLIM_INFINITY else min(hard, wanted + needed)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
        return max(MIN_CONNECTIONS, min(wanted, soft - needed))
    return wanted
