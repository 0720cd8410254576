"""Sets up the process of a command: loading, logging and listening."""

import gc
import json
import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from ..errors import ConfigurationError, ServerError
from ..hosts import plain_address

STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM}
LEVELS = ("debug", "info", "warning", "error")
PROXY_HINT = "let a reverse proxy authenticate callers"

# The encoder is created once: `json.dumps` with options would create one for every call.
_encode = json.JSONEncoder(default=str, separators=(",", ":")).encode


@contextmanager
def loading() -> Iterator[None]:
    """Run a block that loads modules or an index, in the main thread of a command.

    SIGINT ends the process, since a KeyboardInterrupt during an import may turn into another error.
    The garbage collector ignores loaded objects, so that forked workers keep sharing their memory.
    """
    # Searches are too small for OpenBLAS's threads, which spin when idle.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    handler = signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        signal.signal(signal.SIGINT, handler)


class JsonHandler(logging.Handler):
    """Writes JSON in ASCII, so that clients cannot inject line ends or terminal colours.

    A record is written only if the descriptor accepts it immediately: a slow reader loses lines,
    but delays no request.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._is_cut = False

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without a line end."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = logging.Formatter().formatException(record.exc_info)
        return _encode(line)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record if it can be written now."""
        left = self.format(record).encode() + b"\n"
        if self._is_cut:  # End a line of which the rest was lost.
            left = b"\n" + left
        with suppress(OSError):
            while left and self._poll.poll(0):
                left = left[os.write(self._descriptor, left[: select.PIPE_BUF]) :]
                self._is_cut = bool(left)


def configure_logging() -> None:
    """Log to standard error from LOG_LEVEL up, including warnings. Raises ConfigurationError."""
    level = os.environ.get("LOG_LEVEL", "").strip().lower() or "info"
    if level not in LEVELS:
        hint = f"choose one of {', '.join(LEVELS)}"
        raise ConfigurationError(f"LOG_LEVEL: {level!r} is not a level", hint=hint)
    handler: logging.Handler = logging.NullHandler()
    # Standard error may have been closed before this process began.
    with suppress(AttributeError, OSError, ValueError):
        handler = JsonHandler(sys.stderr.fileno())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.captureWarnings(True)


def resolve(
    host: str, port: int, hint: str, *, has_tokens: bool, insecure_no_auth: bool
) -> tuple[socket.AddressFamily, str]:
    """Return the family and IP address of a host.

    Raises ServerError if it is not an address of this machine. Raises ConfigurationError for an
    invalid port, for tokens together with `insecure_no_auth`, and if other machines can reach the
    address but neither is given. `hint` says how to require tokens.
    """
    if has_tokens and insecure_no_auth:
        raise ConfigurationError(
            "--insecure-no-auth does nothing, because API_TOKENS is set and tokens are required",
            hint="leave out the option, or unset API_TOKENS",
        )
    if not 0 <= port <= 65535:
        raise ConfigurationError(f"port {port} does not exist", hint="choose one from 0 to 65535")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        problem = f"{host!r} is not an address of this machine: {error}"
        other = "use --host 127.0.0.1, or the address of a network interface"
        raise ServerError(problem, hint=other) from None
    # IPv4 is preferred, because every container has it.
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    if not (has_tokens or insecure_no_auth or plain_address(str(address[0])).is_loopback):
        raise ConfigurationError(
            f"{host} can be reached from other machines, and this server does not require a token",
            hint=f"{hint}. To accept requests without a token, add --insecure-no-auth",
        )
    return family, str(address[0])


def listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    """Return a listening socket. Raises ServerError, for example if the port is in use."""
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        listener = socket.create_server((address, port), family=family, dualstack_ipv6=both)
    except OSError as error:
        problem = f"cannot listen on {address} port {port}: {os.strerror(error.errno or 0)}"
        hint = "stop the program that uses the port, or choose another port with --port"
        raise ServerError(problem, hint=hint) from None
    # Accepted connections inherit this option. Without it, every second response on a connection
    # waits for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
