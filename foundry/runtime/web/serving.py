"""Running the application: which addresses are safe to bind, and in how many processes."""

import ipaddress
import logging
import signal
import socket
from collections.abc import Callable
from functools import partial

from fastapi import FastAPI

from ..index.errors import ConfigurationError, ServerError
from ..index.reloading import Reloader
from ..index.served import load, served
from ..retrieval.settings import settings
from .access import AccessPolicy
from .citations import announce
from .loading import loading
from .log import configure_logging, log_always
from .metrics import metrics
from .server import BACKLOG, Server
from .workers import Board, Workers

MAX_WORKERS = 256

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
    if not (_is_loopback(address[0]) or policy.token_digests or insecure_no_auth):
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
        announce(address[0], listener.getsockname()[1])
        shown = f"[{address[0]}]" if family == socket.AF_INET6 else address[0]
        log_always(
            "Serving %s on http://%s:%d (%d documents, %d chunks)",
            settings().title,
            shown,
            listener.getsockname()[1],
            index.document_count,
            index.chunk_count,
        )
        if workers == 1:
            _run(app, listener)
        else:
            _run_workers(workers, app, listener)
    _logger.info("stopped")


def _run_workers(count: int, app: FastAPI, listener: socket.socket) -> None:
    board = Board(count)

    def work(worker: int) -> None:
        # Opened anew, because what an index holds open, such as connections, is for one process.
        load(verify=False)
        metrics.add_others(board.others)
        board.keep_posted(worker, metrics.dump)
        _run(app, listener)

    # A connection to a socket that no worker listens on any more would wait for nothing.
    Workers(count, work, stop=listener.close).run()


def _run(app: FastAPI, listener: socket.socket) -> None:
    server = Server(app, settings().limits.connections)
    # Uvicorn raises the signal that stopped it once more when it has stopped; received by itself,
    # it ends this process with 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    metrics.gauge("index_served", lambda: {(served.current().version,): 1})
    # Not before: a thread does not survive the fork that makes a worker.
    served.verify_meanwhile(served.current())
    Reloader(served, partial(metrics.count, "index_reloads")).start()
    server.run(sockets=[listener])


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


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


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
