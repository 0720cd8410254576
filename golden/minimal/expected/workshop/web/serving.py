"""Serves the application with uvicorn, on an address that is safe to bind."""

import asyncio
import logging
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from ..index.reader import Served, load, served
from ..index.records import count_of
from ..settings import settings
from .connections import MIN_CONNECTIONS, BoundedHttpProtocol, Connections, limit_connections
from .process import PROXY_HINT, STOP_SIGNALS, configure_logging, listen, loading, resolve
from .stopping import stopping

DRAINING_SECONDS = 1.0
# Shares of the grace period after which streams and connections are closed
STREAMS_SHARE, CONNECTIONS_SHARE = 0.8, 0.9

_logger = logging.getLogger(__name__)


def serve(
    create_app: Callable[[], FastAPI],
    host: str,
    port: int | None = None,
    *,
    insecure_no_auth: bool = False,
    grace: float = 30.0,
    has_tokens: bool = False,
    tokens_hint: str = PROXY_HINT,  # How to require tokens, for messages
    follow: Callable[[Served], object] = Served.verify_meanwhile,
    announce: Callable[[str, int], object] = lambda _address, _port: None,
    # Runs the server in several processes.
    spread: Callable[[Callable[[], None], socket.socket], None] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in progress.

    Requests get `grace` seconds; streams that would take longer end with an event that says so.
    Port 0 means any free port, None the port in the settings. `follow` verifies the index in a
    thread, and may replace it with newer ones. Raises ServerError for a port in use,
    IndexUnusableError for an unusable index, and ConfigurationError, for example if other machines
    can reach the address without a token, unless `insecure_no_auth`.
    """
    configure_logging()
    port = settings().port if port is None else port
    family, address = resolve(
        host, port, tokens_hint, has_tokens=has_tokens, insecure_no_auth=insecure_no_auth
    )
    with loading():
        index = load(verify=False)
        app = create_app()
    with listen(family, address, port) as listener:
        port = listener.getsockname()[1]
        announce(address, port)
        place = f"[{address}]:{port}" if family == socket.AF_INET6 else f"{address}:{port}"
        documents = count_of(index.document_count, "document")
        chunks = count_of(index.chunk_count, "chunk")
        # Programs may stop the server as soon as they read the line below, before handlers are set.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        # It is not a log message: people read it and programs wait for it, at any LOG_LEVEL.
        line = f"Serving {settings().title} on http://{place} ({documents}, {chunks})\n"
        # Standard error may be closed or full, and a buffer would be flushed again at exit.
        with suppress(AttributeError, OSError, ValueError):
            os.write(sys.stderr.fileno(), line.encode())
        if spread is not None:
            spread(partial(_run, app, listener, follow, grace), listener)
            return
        _run(app, listener, follow, grace)


def _run(
    app: FastAPI, listener: socket.socket, follow: Callable[[Served], object], grace: float
) -> None:
    server = Server(app, settings().limits.connections, grace)
    # Uvicorn re-raises the signal that stopped it, which must not end this process.
    for number in STOP_SIGNALS:
        signal.signal(number, server.handle_exit)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    # The thread starts only now, because threads do not survive the fork of a worker.
    follow(served)
    server.run(sockets=[listener])
    for finish in stopping.last:
        finish()
    _logger.info("stopped")
    others = [each for each in threading.enumerate() if not each.daemon]
    others.remove(threading.main_thread())
    for thread in others:
        thread.join(max(0.0, server.stops_at - time.monotonic()))
    if any(thread.is_alive() for thread in others):
        # The interpreter would wait for these threads at exit, however slow a service is.
        os._exit(0)


class Server(uvicorn.Server):
    """Serves an application on listening sockets until SIGTERM or SIGINT."""

    def __init__(self, app: ASGIApp, max_connections: int, grace: float = 30.0) -> None:
        self._grace = grace
        self.stops_at = 0.0  # The deadline in monotonic time; 0 until the server stops
        self._connections = Connections(limit_connections(max_connections))
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
            # Connections accepted in a row before they are counted.
            backlog=max(MIN_CONNECTIONS, self._connections.max_connections // 8),
            # By then, the shutdown below has closed every connection.
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self.server_state = self._connections

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop within the grace period; requests that arrive in DRAINING_SECONDS are answered."""
        begun = time.monotonic()
        self.stops_at = begun + self._grace
        shared, until = self._connections, begun + min(DRAINING_SECONDS, self._grace / 2)
        shared.draining = True
        stopping.begin(asyncio.get_running_loop().time() + STREAMS_SHARE * self._grace)
        for connection in shared.connections - shared.idle.keys():
            connection.shutdown()
        # The kernel stops accepting connections here, so accept those in its queue first.
        arriving = select.poll()
        for listener in sockets or []:
            listener.listen(0)
            arriving.register(listener, select.POLLIN)
        while arriving.poll(0) and time.monotonic() < until:
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        # A connection is counted a moment after it is accepted.
        await asyncio.sleep(0.02)
        while shared.connections and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for listener in sockets or []:
            listener.close()
        for connection in [*shared.connections]:
            connection.shutdown()
        # Otherwise uvicorn would cancel the remaining tasks and log a traceback for each.
        until = begun + CONNECTIONS_SHARE * self._grace
        while shared.connections and not self.force_exit and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for connection in [*shared.connections]:
            connection.transport.abort()
        await super().shutdown(sockets)
