"""Calls that are waited for no longer than they may take, whatever they wait for themselves."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """What a call returns or raises; TimeoutError if it takes longer.

    A client's own time limits leave gaps: the look-up of a name, a head that arrives byte by byte.
    The call goes on in its thread, which ends with it and keeps no process from ending.
    """
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="bounded call", daemon=True).start()
    return outcome.result(timeout=max(0.0, seconds))
