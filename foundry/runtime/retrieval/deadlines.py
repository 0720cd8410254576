"""Bounds the time of calls."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return the result of a call; raise TimeoutError if it takes longer.

    Timeouts of HTTP clients have gaps, such as name resolution, or headers that arrive byte by
    byte. The call continues in a daemon thread.
    """
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="bounded call", daemon=True).start()
    return outcome.result(timeout=max(0.0, seconds))
