"""What the server says on standard error: one JSON object a line, or plain text in a terminal.

LOG_LEVEL is debug, info, warning or error; info if not set.
"""

import json
import logging
import os
import select
import sys
import threading
from datetime import UTC, datetime

from ..index.errors import ConfigurationError

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

WRITE_BYTES = 4096
"""A pipe that is ready takes this much without waiting (PIPE_BUF on Linux)."""


class JsonFormatter(logging.Formatter):
    """One JSON object: time, level, logger, message, the record's `fields`, and any traceback.

    Escaped to ASCII, so nothing that a client sends can begin a line or colour a terminal.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, separators=(",", ":"))


class TextFormatter(logging.Formatter):
    """The message, then the fields: for reading in a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, and the lines of any traceback."""
        fields = getattr(record, "fields", {}).items()
        parts = [record.getMessage(), *(f"{name}={value}" for name, value in fields)]
        # Control characters are shown as escapes.
        line = " ".join(parts).encode("unicode_escape").decode("ascii")
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class DescriptorHandler(logging.Handler):
    """Writes whole lines to a file descriptor and never fails or waits.

    A disk that is full or a reader that is slow or gone costs lines, not requests; the next line
    that gets through is preceded by how many were lost.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._lost = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, if it can be written now."""
        try:
            line = self.format(record)
            if self._lost:
                lost = logging.LogRecord(
                    record.name, logging.WARNING, "", 0, "%d log lines lost", (self._lost,), None
                )
                self._write(self.format(lost))
                self._lost = 0
            self._write(line)
        except (OSError, ValueError):
            self._lost += 1

    def _write(self, line: str) -> None:
        left = line.encode("utf-8", "backslashreplace") + b"\n"
        while left:
            if not self._poll.poll(0):
                raise BlockingIOError
            left = left[os.write(self._descriptor, left[:WRITE_BYTES]) :]


def configure_logging() -> None:
    """Send everything that is logged, warnings and threads' errors too, to standard error.

    Raises ConfigurationError for a LOG_LEVEL that does not exist.
    """
    name = os.environ.get("LOG_LEVEL", "").strip().lower() or "info"
    if name not in LEVELS:
        raise ConfigurationError(
            f"LOG_LEVEL: {name!r} is no level", hint=f"choose one of {', '.join(LEVELS)}"
        )
    try:
        handler: logging.Handler = DescriptorHandler(sys.stderr.fileno())
        formatter = TextFormatter() if sys.stderr.isatty() else JsonFormatter()
    except (AttributeError, OSError, ValueError):
        # Standard error was closed before this process began.
        logging.basicConfig(handlers=[logging.NullHandler()], force=True)
        return
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=LEVELS[name], force=True)
    logging.captureWarnings(True)
    threading.excepthook = _log_thread_error


def log_always(message: str, *arguments: object) -> None:
    """Say what is said at every LOG_LEVEL, because programs wait for it."""
    logger = logging.getLogger(__name__)
    logger.handle(logger.makeRecord(__name__, logging.INFO, "", 0, message, arguments, None))


def _log_thread_error(error: threading.ExceptHookArgs) -> None:
    if error.exc_value is not None:
        details = (error.exc_type, error.exc_value, error.exc_traceback)
        logging.getLogger(__name__).error("a thread failed", exc_info=details)
