"""Waiting for what will be so: longer than any machine is busy, and no longer than it takes."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for something that will be so soon."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.005)
