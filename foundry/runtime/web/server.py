"""Uvicorn's server: how many connections it takes, and how it stops without dropping a request."""

import asyncio
import resource
import select
import socket
import time
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from .protocol import BoundedHttpProtocol, ConnectionState

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
        self._connections = ConnectionState(connections)
        self.server_state = self._connections

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
    """The connections that open files allow, `wanted` at most; raises the soft limit if it can."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = len(list(Path("/dev/fd").iterdir())) + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted + needed:
        raised = wanted + needed if hard == resource.RLIM_INFINITY else min(hard, wanted + needed)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
        return max(MIN_CONNECTIONS, min(wanted, soft - needed))
    return wanted
