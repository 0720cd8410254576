"""What a command loads before it does anything: modules, an index, an application."""

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from ..index.errors import ServerError

COUNTS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus-client when it is imported."""

MEMORY = "/dev/shm"

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


def load_fastapi() -> None:
    """Import FastAPI; its own models build their validators when they are first used.

    That saves a sixth of the time that it takes: most of them describe parts of an OpenAPI
    document, which wait for somebody to ask for that. The switch is Pydantic's own, which models
    inherit; models that are defined later are not concerned.
    """
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        import_module("fastapi")
    finally:
        del BaseModel.model_config["defer_build"]


@contextmanager
def shared_counts(workers: int) -> Iterator[None]:
    """Have several workers count where each of them can add up what all have counted.

    Enter before anything of `web` is imported. Raises ServerError if no folder can be made.
    """
    if workers < 2 or COUNTS_VARIABLE in os.environ:
        yield
        return
    _remove_left_counts()
    try:
        folder = TemporaryDirectory(
            prefix=f"counts-{os.getpid()}-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None
        )
    except OSError as error:
        raise ServerError(
            f"several workers need a folder to count in: {error}",
            hint="set TMPDIR to a folder that can be written, or serve with one worker",
        ) from None
    with folder as os.environ[COUNTS_VARIABLE]:
        yield


def _remove_left_counts() -> None:
    """Remove what this user's servers could not, since they were killed."""
    for folder in Path(MEMORY).glob("counts-*-*"):
        process = folder.name.split("-")[1]
        try:
            if process.isdecimal() and folder.stat().st_uid == os.getuid():
                os.kill(int(process), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, OverflowError):
            continue
