"""Running the application: which addresses are safe to bind, and how the server stops."""

import ipaddress
import signal
import socket
import sys
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from .errors import ConfigurationError, ServerError
from .settings import settings
from .state import load
from .web_access import AccessPolicy
from .web_protocol import BoundedHttpProtocol

KEEP_ALIVE_SECONDS = 5
SHUTDOWN_SECONDS = 30
BACKLOG = 2048


def serve(
    create_app: Callable[[], FastAPI], host: str, port: int, *, insecure_no_auth: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests that have begun.

    Port 0 is any free port. Raises ConfigurationError for an address that other machines can
    reach, unless tokens are set or `insecure_no_auth` is; ServerError for one that cannot be
    bound; IndexUnusableError. Nothing is bound before everything else has been checked.
    """
    family, address = _resolve(host, port)
    policy = AccessPolicy.from_environment(settings().allowed_hosts)
    if not (_is_loopback(address[0]) or policy.token_digests or insecure_no_auth):
        raise ConfigurationError(
            f"{host} can be reached from other machines, and no API_TOKENS are set",
            hint="set API_TOKENS to one or more tokens, separated by commas;"
            ' python -c "import secrets; print(secrets.token_urlsafe(32))" makes one.'
            " To serve everybody without a token, add --insecure-no-auth",
        )
    index = load()
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(),
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
            backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
    with _listen(family, address, host) as listener:
        # Uvicorn raises the signal that stopped it once more when it has stopped; received by
        # itself, it ends this process with 0.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, server.handle_exit)
        shown = f"[{address[0]}]" if family == socket.AF_INET6 else address[0]
        sys.stderr.write(
            f"Serving {settings().title} on http://{shown}:{listener.getsockname()[1]}"
            f" ({index.document_count} documents, {index.chunk_count} chunks)\n"
        )
        sys.stderr.flush()
        server.run(sockets=[listener])


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    if not 0 <= port <= 65535:
        raise ServerError(f"port {port} does not exist", hint="choose one from 1 to 65535")
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
