"""Waiting for conditions: with generous timeouts, but no longer than needed."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SECONDS = 120.0


def wait_until(condition: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until a condition is true; fail after `seconds`."""
    end, pause = time.monotonic() + seconds, 0.005
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(pause)
        # Conditions may be expensive to check.
        pause = min(1.2 * pause, 0.1)


@contextmanager
def within(process: "subprocess.Popen[Any]", seconds: float = SECONDS) -> Iterator[None]:
    """Kill a process that is late with its output, which ends the reading."""
    limit = threading.Timer(seconds, process.kill)
    limit.start()
    try:
        yield
    finally:
        limit.cancel()
