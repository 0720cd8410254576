"""The lock of a project, for one build, export or publication at a time."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout

from foundry.config.project import Config
from foundry.errors import BusyError
from foundry.state.folder import begin_state, claim_state, settle_state


@contextmanager
def hold_lock(config: Config, warn: Callable[[str, str], object] | None = None) -> Iterator[None]:
    """Hold the project's lock; the kernel releases it if the holder dies.

    If another installation wrote the state folder, it is set aside, and `warn` is called; without
    `warn`, ForeignStateError is raised. Raises BusyError at once if another process holds the lock,
    and names that process.
    """
    state = claim_state(config.root, warn) if warn else begin_state(config.root)
    owner = state / "lock.owner"
    lock = FileLock(state / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        holder = "another process"
        with suppress(OSError):
            holder = owner.read_text(encoding="utf-8") or holder
        raise BusyError(
            f"{config.root}: {holder} is working on this project", hint="wait until it has finished"
        ) from None
    try:
        owner.write_text(
            f"process {os.getpid()} (since {time.strftime('%H:%M:%S')})", encoding="utf-8"
        )
        if warn:
            settle_state(state)
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()
