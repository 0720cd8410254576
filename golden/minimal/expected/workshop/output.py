"""Writes to standard output and standard error, either of which may be closed or full."""

import os
import sys
from contextlib import suppress

from .errors import ServerError


def write_output(text: str) -> None:
    """Write to standard output. Raises ServerError, or BrokenPipeError if nobody reads it."""
    if sys.stdout is None:
        raise ServerError("standard output is closed", hint="redirect it to a file or /dev/null")
    try:
        sys.stdout.write(text)
        # Flush here, so that a failure is noticed now and not at exit.
        sys.stdout.flush()
    except OSError as error:
        # Flushing at exit would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise ServerError(f"standard output: {error.strerror}") from None


def write_message(text: str) -> None:
    """Write to standard error, which may be closed or full."""
    with suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
