"""What a command loads before it does anything: modules, an index, an application."""

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""The exit code of a command that was interrupted: 128 and the number of SIGINT."""


@contextmanager
def loading() -> Iterator[None]:
    """Load within this, in a command's main thread; a library leaves its process as it is.

    SIGINT ends the process at once and silently: there is nothing to finish yet, and a
    KeyboardInterrupt in the middle of an import may turn into another error, or get lost.

    The garbage collector rests, and never looks at what was loaded afterwards: nearly all of it
    stays, and between forked workers its memory remains shared.

    The linear algebra library behind numpy starts no threads unless OPENBLAS_NUM_THREADS says how
    many. What a search multiplies is too small for them, and each waits for work by spinning.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # In the background of a shell script SIGINT is ignored, which is left so.
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:
        signal.signal(signal.SIGINT, _end)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        if is_heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)
