"""Serves the application with uvicorn on an address that is safe to bind.

By itself, uvicorn waits forever for the end of a request's head and for a client that does not
read, and buffers everything that is unread; middleware would limit that too late.
"""

import asyncio
import logging
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from ..index.reader import Served, load, served
from ..index.records import count_of
from ..retrieval.settings import settings
from .middleware import SECURITY_HEADERS
from .problems import ProblemDocument
from .process import (
    GRACE_SECONDS,
    PROXY_HINT,
    STOP_SIGNALS,
    configure_logging,
    listen,
    loading,
    resolve,
)
from .stopping import stopping

HEAD_SECONDS = 10.0
MAX_HEAD_BYTES = 65_536
READING_SECONDS = 30.0
MAX_UNREAD_BYTES = 1 << 25
DRAINING_SECONDS = 1.0
STREAMS_SHARE, CONNECTIONS_SHARE = 0.8, 0.9  # Of the grace: when the server ends them.
MIN_CONNECTIONS = 4
SPARE_FILES = 56  # Open besides connections: two indexes during a reload, and calls to services.

_logger = logging.getLogger(__name__)


def serve(
    create_app: Callable[[], FastAPI],
    host: str,
    port: int | None = None,
    *,
    insecure_no_auth: bool = False,
    grace: float = GRACE_SECONDS,
    # [callers
    has_tokens: bool = False,
    tokens_hint: str = PROXY_HINT,  # Says how to have callers send tokens.
    # ]
    follow: Callable[[Served], object] = Served.verify_meanwhile,
    # [mcp or chat or page
    announce: Callable[[str, int], object] = lambda _address, _port: None,
    # ]
    # [workers
    # Runs the server in several processes.
    spread: Callable[[Callable[[], None], socket.socket], None] | None = None,
    # ]
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests that have begun.

    They have `grace` seconds; a stream that would take longer ends by an event that says so.
    Port 0 takes any that is free, None that of the settings. `follow` verifies the index in a
    thread, and may replace it by newer ones.
    Raises ServerError for a port in use, and its subclasses ConfigurationError, as for an address
    that others can reach without a token unless `insecure_no_auth`, and IndexUnusableError.
    """
    configure_logging()
    port = settings().port if port is None else port
    # [not callers
    is_open, hint = insecure_no_auth, PROXY_HINT
    # ]
    # [callers
    is_open, hint = has_tokens or insecure_no_auth, tokens_hint
    # ]
    family, address = resolve(host, port, is_open, hint)
    with loading():
        index = load(verify=False)
        app = create_app()
    with listen(family, address, port) as listener:
        port = listener.getsockname()[1]
        # [mcp or chat or page
        announce(address, port)
        # ]
        place = f"[{address}]:{port}" if family == socket.AF_INET6 else f"{address}:{port}"
        documents = count_of(index.document_count, "document")
        chunks = count_of(index.chunk_count, "chunk")
        # Held back until there are handlers, since programs may stop a server that says it serves.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        # Not a log message: people read it, and programs wait for it whatever LOG_LEVEL says.
        line = f"Serving {settings().title} on http://{place} ({documents}, {chunks})\n"
        # Standard error may be closed or full, and a buffer would be written again at the end.
        with suppress(AttributeError, OSError, ValueError):
            os.write(sys.stderr.fileno(), line.encode())
        # [workers
        if spread is not None:
            spread(partial(_run, app, listener, follow, grace), listener)
            return
        # ]
        _run(app, listener, follow, grace)


def _run(
    app: FastAPI, listener: socket.socket, follow: Callable[[Served], object], grace: float
) -> None:
    server = Server(app, settings().limits.connections, grace)
    # Uvicorn raises the signal that stopped it again, which must not end this process.
    for number in STOP_SIGNALS:
        signal.signal(number, server.handle_exit)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    # Not before: a thread does not survive the fork that makes a worker.
    follow(served)
    server.run(sockets=[listener])
    _logger.info("stopped")
    others = [each for each in threading.enumerate() if not each.daemon]
    others.remove(threading.main_thread())
    for thread in others:
        thread.join(max(0.0, server.stops_at - time.monotonic()))
    if any(thread.is_alive() for thread in others):
        # The end of the interpreter would wait for them, however long a service takes to answer.
        os._exit(0)


class Connections(ServerState):
    """The state that connections share: which of them are idle, and the unread bytes of each."""

    def __init__(self, max_connections: int) -> None:
        super().__init__()
        self.max_connections = max_connections
        self.idle: dict[BoundedHttpProtocol, None] = {}
        self.unread: dict[BoundedHttpProtocol, int] = {}
        self.draining = False

    def keep_unread(self, connection: "BoundedHttpProtocol", size: int) -> None:
        """Note the unread bytes of a connection; with too many in all, drop the oldest of them."""
        self.unread[connection] = size
        while len(self.unread) > 1 and sum(self.unread.values()) > MAX_UNREAD_BYTES:
            oldest = next(iter(self.unread))
            del self.unread[oldest]
            oldest.transport.abort()


class BoundedHttpProtocol(HttpToolsProtocol):
    """Closes a connection whose head is too slow or too large, or whose client does not read."""

    def __init__(self, *, server_state: Connections, **others: Any) -> None:
        super().__init__(server_state=server_state, **others)
        self._shared = server_state
        self._head_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request; if there are too many connections, close an idle one or this one."""
        super().connection_made(transport)
        # By default, `pause_writing` is only called when 64 KiB are unread.
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
        """Parse; refuse a head that is still incomplete and already too large."""
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()
        super().data_received(data)
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(431, f"A request head may have {MAX_HEAD_BYTES} bytes.")

    def on_headers_complete(self) -> None:
        """Hand the request on."""
        self._end_head()
        self._shared.idle.pop(self, None)
        super().on_headers_complete()
        if self._shared.draining:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Become idle, unless another request has been sent already."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._shared.idle[self] = None

    def pause_writing(self) -> None:
        """Give the client READING_SECONDS to read what has been written."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(READING_SECONDS, self.transport.abort)
        self._shared.keep_unread(self, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Continue: the client has read everything."""
        self._end_reading()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is not HTTP."""
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


class Server(uvicorn.Server):
    """Serves an application on listening sockets until SIGTERM or SIGINT."""

    def __init__(self, app: ASGIApp, max_connections: int, grace: float = GRACE_SECONDS) -> None:
        self._grace = grace
        self.stops_at = 0.0  # By the monotonic clock, once it is stopping.
        self._connections = Connections(_limit_connections(max_connections))
        config = uvicorn.Config(
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
            # This many are accepted in a row, before they are counted.
            backlog=max(MIN_CONNECTIONS, self._connections.max_connections // 8),
            # By then, its own shutdown has closed every connection.
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self.server_state = self._connections

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop within the grace, but first answer requests that arrive within DRAINING_SECONDS."""
        begun = time.monotonic()
        self.stops_at = begun + self._grace
        shared, until = self._connections, begun + min(DRAINING_SECONDS, self._grace / 2)
        shared.draining = True
        stopping.begin(asyncio.get_running_loop().time() + STREAMS_SHARE * self._grace)
        for connection in shared.connections - shared.idle.keys():
            connection.shutdown()
        # The kernel makes no more connections, and those that it has made are accepted.
        arriving = select.poll()
        for listener in sockets or []:
            listener.listen(0)
            arriving.register(listener, select.POLLIN)
        while arriving.poll(0) and time.monotonic() < until:
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        # A connection is counted a moment after it has been accepted.
        await asyncio.sleep(0.02)
        while shared.connections and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for listener in sockets or []:
            listener.close()
        for connection in [*shared.connections]:
            connection.shutdown()
        # Uvicorn would cancel what has not ended, and log a traceback of each.
        until = begun + CONNECTIONS_SHARE * self._grace
        while shared.connections and not self.force_exit and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for connection in [*shared.connections]:
            connection.transport.abort()
        await super().shutdown(sockets)


def _limit_connections(wanted: int) -> int:
    files, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        files = hard
    if files == resource.RLIM_INFINITY:
        return wanted
    # An eighth more are accepted before one is closed.
    return min(wanted, max(MIN_CONNECTIONS, (files - SPARE_FILES) * 8 // 9))
