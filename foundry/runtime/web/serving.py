"""Runs the application on an address that is safe to bind, in one process or several."""

import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from fastapi import FastAPI

from ..index.reader import Served, load, served
from ..retrieval.settings import ConfigurationError, ServerError, settings
from .access import AccessPolicy
from .connections import Server
from .process import configure_logging, loading

MAX_WORKERS = 256

_STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM}
_logger = logging.getLogger(__name__)


def serve(
    create_app: Callable[[], FastAPI],
    host: str,
    port: int,
    *,
    workers: int = 1,
    insecure_no_auth: bool = False,
    follow: Callable[[Served], object] | None = None,
    announce: Callable[[str, int], object] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests that have begun; port 0 is any free.

    `follow` verifies the index in a thread, and may replace it by newer ones; `announce` learns the
    IP address and the port.
    Raises ServerError for a port in use, and its subclasses ConfigurationError, as for an address
    that others can reach without a token unless `insecure_no_auth`, and IndexUnusableError.
    """
    configure_logging()
    family, address = _resolve(host, port)
    if not 1 <= workers <= MAX_WORKERS:
        hint = f"--workers takes 1 to {MAX_WORKERS}"
        raise ConfigurationError(f"cannot run {workers} workers", hint=hint)
    policy = AccessPolicy.from_environment(settings().allowed_hosts)
    is_loopback = ipaddress.ip_address(address.partition("%")[0]).is_loopback
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
    with _listen(family, address, port) as listener:
        port = listener.getsockname()[1]
        if announce is not None:
            announce(address, port)
        place = f"[{address}]:{port}" if family == socket.AF_INET6 else f"{address}:{port}"
        counts = f"{index.document_count} documents, {index.chunk_count} chunks"
        # Not a log message: people read it, and programs wait for it whatever LOG_LEVEL says.
        line = f"Serving {settings().title} on http://{place} ({counts})\n"
        # Standard error may be closed or full, and a buffer would be written again at the end.
        with suppress(AttributeError, OSError, ValueError):
            os.write(sys.stderr.fileno(), line.encode())
        run = partial(_run, app, listener, follow or _verify)
        if workers == 1:
            run()
        else:
            _run_workers(run, listener, workers)
    _logger.info("stopped")


def _run(app: FastAPI, listener: socket.socket, follow: Callable[[Served], object]) -> None:
    server = Server(app, settings().limits.connections)
    # Uvicorn raises the signal that stopped it again, which must not end this process.
    for number in _STOP_SIGNALS:
        signal.signal(number, server.handle_exit)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
    # Not before: a thread does not survive the fork that makes a worker.
    follow(served)
    server.run(sockets=[listener])


def _verify(index: Served) -> None:
    threading.Thread(target=index.verify, name="verify", daemon=True).start()


def _run_workers(run: Callable[[], None], listener: socket.socket, count: int) -> None:
    """Keep `count` processes at work until SIGTERM or SIGINT, replacing those that die.

    They are forked, and so share what is loaded; uvicorn's are not, and outlive a killed parent.
    """
    signals = {*_STOP_SIGNALS, signal.SIGCHLD}
    # Without a handler, some systems drop the signal although it is waited for.
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Held back for `sigwait`, and from a new worker until it has its own handlers.
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    workers = {_fork(run) for _ in range(count)}
    is_stopping = False
    while workers:
        if signal.sigwait(signals) != signal.SIGCHLD:
            is_stopping = True
            # A connection that no worker will accept must not be made.
            listener.close()
            for pid in workers:
                os.kill(pid, signal.SIGTERM)
        for pid in list(workers):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                workers.remove(pid)
            if ended and not is_stopping:
                fields = {"worker": pid, "exit": os.waitstatus_to_exitcode(status)}
                _logger.error("a worker died", extra={"fields": fields})
                # A worker that cannot start must not take a core.
                time.sleep(1.0)
                workers.add(_fork(run))


def _fork(run: Callable[[], None]) -> int:
    parent = os.getpid()
    if pid := os.fork():
        return pid
    try:
        # Opened again, because connections that an index holds are for one process.
        load(verify=False)
        threading.Thread(target=_stop_without, args=(parent,), daemon=True).start()
        run()
        os._exit(0)
    except BaseException:
        _logger.exception("a worker failed")
    finally:
        # Not by an exception, which would run what the parent does when it ends.
        os._exit(1)


def _stop_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGTERM)


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, str]:
    if not 0 <= port <= 65535:
        raise ConfigurationError(f"port {port} does not exist", hint="choose one from 0 to 65535")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        hint = "use --host 127.0.0.1, or the address of a network interface"
        problem = f"{host!r} is not an address of this machine: {error}"
        raise ServerError(problem, hint=hint) from None
    # IPv4 is preferred, because every container has it.
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, str(address[0])


def _listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        listener = socket.create_server((address, port), family=family, dualstack_ipv6=both)
    except OSError as error:
        problem = f"cannot listen on {address} port {port}: {os.strerror(error.errno or 0)}"
        hint = "stop what uses the port, or choose another one with --port"
        raise ServerError(problem, hint=hint) from None
    # Connections inherit it. Without it, every second response on one waits for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
