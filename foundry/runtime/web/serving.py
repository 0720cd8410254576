"""Running the application: which addresses are safe to bind, and in how many processes."""

import ipaddress
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NoReturn

from fastapi import FastAPI
from prometheus_client.multiprocess import mark_process_dead

from ..index.errors import ConfigurationError, ServerError
from ..index.served import load, served
from ..retrieval.settings import settings
from .access import AccessPolicy
from .citations import announce
from .connections import BACKLOG, Server
from .loading import loading
from .log import configure_logging, log_always
from .observing import INDEX_RELOADS, INDEX_SERVED

MAX_WORKERS = 256
RESTART_SECONDS = 1.0
"""A worker that dies sooner than this is not replaced before."""

PARENT_SECONDS = 1.0
"""How often a worker looks whether the process that started it is still there."""

_STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
_logger = logging.getLogger(__name__)


def serve(
    create_app: Callable[[], FastAPI],
    host: str,
    port: int,
    *,
    workers: int = 1,
    insecure_no_auth: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests that have begun.

    Port 0 is any free port; several `workers` are processes that share it.

    Raises ConfigurationError for an address that other machines can reach, unless tokens are set
    or `insecure_no_auth` is; ServerError for one that cannot be bound; IndexUnusableError. Nothing
    is bound before everything else has been checked.
    """
    configure_logging()
    family, address = _resolve(host, port)
    if not 1 <= workers <= MAX_WORKERS:
        raise ConfigurationError(
            f"{workers} workers cannot be", hint=f"--workers takes 1 to {MAX_WORKERS}"
        )
    policy = AccessPolicy.from_environment(settings().allowed_hosts)
    is_loopback = ipaddress.ip_address(address[0].partition("%")[0]).is_loopback
    if not (is_loopback or policy.token_digests or insecure_no_auth):
        raise ConfigurationError(
            f"{host} can be reached from other machines, and no API_TOKENS are set",
            hint="set API_TOKENS to one or more tokens, separated by commas;"
            ' python -c "import secrets; print(secrets.token_urlsafe(32))" makes one.'
            " To serve everybody without a token, add --insecure-no-auth",
        )
    with loading():
        index = load(verify=False)
        app = create_app()
    with _listen(family, address, host) as listener:
        port = listener.getsockname()[1]
        announce(address[0], port)
        log_always(
            "Serving %s on http://%s:%d (%d documents, %d chunks)",
            settings().title,
            f"[{address[0]}]" if family == socket.AF_INET6 else address[0],
            port,
            index.document_count,
            index.chunk_count,
        )
        if workers == 1:
            _run(app, listener)
        else:
            # A connection to a socket that no worker listens on any more would wait for nothing.
            work = partial(_work, app, listener, os.getpid())
            Workers(workers, work, stop=listener.close).run()
    _logger.info("stopped")


def _work(app: FastAPI, listener: socket.socket, parent: int) -> None:
    # Opened again, because what an index holds open, such as connections, is for one process.
    load(verify=False)
    threading.Thread(target=_stop_without, args=(parent,), name="parent", daemon=True).start()
    _run(app, listener)


def _stop_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


def _run(app: FastAPI, listener: socket.socket) -> None:
    server = Server(app, settings().limits.connections)
    # Uvicorn raises the signal that stopped it once more when it has stopped; received by itself,
    # it ends this process with 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    version = served.current().version
    INDEX_SERVED(version).set(1)

    def count_reload(result: str) -> None:
        nonlocal version
        INDEX_RELOADS(result).inc()
        if result == "ok":
            INDEX_SERVED(version).set(0)
            version = served.current().version
            INDEX_SERVED(version).set(1)

    # Not before: a thread does not survive the fork that makes a worker.
    served.follow(count_reload)
    server.run(sockets=[listener])


class Workers:
    """Keeps `count` forked processes at work, replacing those that die, until SIGTERM or SIGINT.

    They share the memory of what was loaded before. `work` returns when its process has been told
    to stop; `stop` is called, in this process, when they are told.
    """

    def __init__(self, count: int, work: Callable[[], None], stop: Callable[[], None]) -> None:
        self._count = count
        self._work = work
        self._on_stop = stop
        self._started: dict[int, float] = {}
        self._stopping = False

    def run(self) -> None:
        """Start the workers, and return when all have stopped."""
        for number in _STOP_SIGNALS:
            signal.signal(number, self._stop)
        for _ in range(self._count):
            self._fork()
        while self._started:
            pid, status = os.wait()
            alive = time.monotonic() - self._started.pop(pid)
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
            if not self._stopping:
                fields = {"worker": pid, "exit": os.waitstatus_to_exitcode(status)}
                _logger.error("a worker died", extra={"fields": fields})
                time.sleep(max(0.0, RESTART_SECONDS - alive))
            # A signal may have come while it slept.
            if not self._stopping:
                self._fork()

    def _fork(self) -> None:
        # Held back, so that a signal that comes meanwhile finds the new worker in the table.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        pid = os.fork()
        if pid == 0:
            self._run_worker()
        self._started[pid] = time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)

    def _run_worker(self) -> NoReturn:
        code = 1
        try:
            for number in _STOP_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
            self._work()
            code = 0
        except BaseException:
            _logger.exception("a worker failed")
        finally:
            # Not further up: what the parent would do when it ends is not the worker's to do.
            os._exit(code)

    def _stop(self, _number: int, _frame: object) -> None:
        if not self._stopping:
            self._stopping = True
            self._on_stop()
        for pid in self._started:
            # It may have ended a moment ago.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    if not 0 <= port <= 65535:
        raise ConfigurationError(f"port {port} does not exist", hint="choose one from 0 to 65535")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ServerError(
            f"{host!r} is not an address of this machine: {error}",
            hint="use --host 127.0.0.1, or the address of a network interface",
        ) from None
    # A name may stand for addresses of both families. One is bound: IPv4, if there is a choice,
    # because every container has it.
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, (str(address[0]), port)


def _listen(family: socket.AddressFamily, address: tuple[str, int], host: str) -> socket.socket:
    # The protocol is named because asyncio sets TCP_NODELAY on such sockets only, and without it
    # every second answer on a connection waits 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ServerError(
            f"cannot listen on {host} port {address[1]}: {error.strerror}",
            hint="stop what uses the port, or choose another one with --port",
        ) from None
    return listener
