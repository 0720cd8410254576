"""Sets up the process of a command: how it loads, where it logs, where workers add up metrics."""

import atexit
import gc
import json
import logging
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from tempfile import TemporaryDirectory

from ..retrieval.settings import ConfigurationError, ServerError

COUNTS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
LEVELS = ("debug", "info", "warning", "error")

# Made once: `json.dumps` with options would make an encoder for every line.
_encode = json.JSONEncoder(default=str, separators=(",", ":")).encode


@contextmanager
def loading() -> Iterator[None]:
    """Load modules and an index, in the main thread of a command.

    SIGINT ends the process, since a KeyboardInterrupt during an import may become another error.
    The garbage collector leaves alone what was loaded, so that workers go on sharing its memory.
    """
    # A search is too small for threads of OpenBLAS, and idle ones spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    handler = signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        signal.signal(signal.SIGINT, handler)


def share_counts(workers: int) -> None:
    """Give several workers a folder for metrics, before prometheus-client is imported."""
    if workers < 2 or COUNTS_VARIABLE in os.environ:
        return
    try:
        folder = TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    except OSError as error:
        problem = f"several workers need a folder for their metrics: {error}"
        hint = "set TMPDIR to a writable folder, or serve with one worker"
        raise ServerError(problem, hint=hint) from None
    # Removed when this process ends; workers exit without running this.
    atexit.register(folder.cleanup)
    os.environ[COUNTS_VARIABLE] = folder.name


class JsonHandler(logging.Handler):
    """Writes JSON in ASCII: nothing that clients send can begin a line or colour a terminal.

    It writes what a file descriptor takes at once: a slow reader costs lines, not requests.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
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
        """Write a record, if it can be written now."""
        left = self.format(record).encode() + b"\n"
        with suppress(OSError):
            while left and self._poll.poll(0):
                left = left[os.write(self._descriptor, left[: select.PIPE_BUF]) :]


def configure_logging() -> None:
    """Log to standard error, warnings too, from LOG_LEVEL on. Raises ConfigurationError."""
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
