"""A circuit breaker: what has just failed is left alone for a while, then tried by one call.

After Nygard, Release It!, 2007. Closed, every call passes. So many failures without a success
between them open it: calls are refused at once, without waiting for what would fail again. When the
pause is over, a single call is let through; if it succeeds the breaker closes, if not the next
pause is twice as long.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds."""

Fault = TypeVar("Fault")


class CircuitBreaker(Generic[Fault]):
    """Decides whether a call is made; any number of threads may share one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, failures: int = 1) -> None:
        """Open after this many `failures` in a row; `clock` counts seconds."""
        self._clock = clock
        self._failures_to_open = failures
        self._failures = 0
        self._lock = threading.Lock()
        self._fault: Fault | None = None
        self._generation = 0
        self._pause = 0.0
        self._next_trial = 0.0

    @property
    def fault(self) -> Fault | None:
        """What opened the breaker; None while it is closed."""
        return self._fault

    def admit(self) -> int | None:
        """Return a ticket for one call, for `succeed` or `fail`; None if the call is refused."""
        with self._lock:
            if self._fault is not None:
                if self._clock() < self._next_trial:
                    return None
                # Should this trial never be decided, another one is let through then.
                self._next_trial = self._clock() + LONGEST_PAUSE
                self._generation += 1
            return self._generation

    def succeed(self, ticket: int) -> bool:
        """Note that the call with this ticket succeeded; return whether that closed the breaker."""
        with self._lock:
            if ticket != self._generation:
                return False
            self._failures = 0
            if self._fault is None:
                return False
            self._fault = None
            self._pause = 0.0
            return True

    def fail(self, ticket: int, fault: Fault, pause: float = 0.0) -> bool:
        """Note that the call with this ticket failed, and asked for a `pause` in seconds.

        Returns whether that opened the breaker with a new fault. Once it is open, the failures of
        calls that were already under way do not count.
        """
        with self._lock:
            if ticket != self._generation:
                return False
            self._failures += 1
            if self._failures < self._failures_to_open:
                return False
            is_new = fault != self._fault
            self._fault = fault
            self._generation += 1
            self._pause = min(max(FIRST_PAUSE, 2 * self._pause), LONGEST_PAUSE)
            self._next_trial = self._clock() + max(self._pause, min(pause, LONGEST_PAUSE))
            return is_new


Result = TypeVar("Result")


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what a call returns or raises; TimeoutError if it takes longer.

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
