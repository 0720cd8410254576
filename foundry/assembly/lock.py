"""The lock of a project: one build or export at a time."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout

from foundry.config.project import Config
from foundry.errors import BusyError


@contextmanager
def hold_lock(config: Config) -> Iterator[None]:
    """Hold the project's lock; the kernel lets go of it when the holder dies.

    Raises BusyError at once when another process holds it, and names that process.
    """
    config.state.mkdir(exist_ok=True)
    owner = config.state / "lock.owner"
    lock = FileLock(config.state / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        holder = "another process"
        with suppress(OSError):
            holder = owner.read_text(encoding="utf-8") or holder
        raise BusyError(
            f"{config.root}: {holder} is working on this project", hint="wait for it to end"
        ) from None
    try:
        owner.write_text(
            f"process {os.getpid()} (since {time.strftime('%H:%M:%S')})", encoding="utf-8"
        )
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()
