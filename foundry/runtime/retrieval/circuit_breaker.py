"""A circuit breaker: after repeated failures, calls are refused for a while, then one is tried.

After Nygard, Release It!, 2007. While the breaker is closed, every call passes. Several failures in
a row open it: calls are refused at once instead of waiting for another failure. After a pause, one
trial call passes: success closes the breaker, failure doubles the pause.
"""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds."""

Fault = TypeVar("Fault")


class CircuitBreaker(Generic[Fault]):
    """Decides whether a call may be made; threads can share one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, failures: int = 1) -> None:
        """Create a closed breaker; it opens after `failures` in a row. `clock` returns seconds."""
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
        """The error that opened the breaker; None while it is closed."""
        return self._fault

    def admit(self) -> int | None:
        """Return a ticket for `succeed` or `fail`; None if the call is refused."""
        with self._lock:
            if self._fault is not None:
                if self._clock() < self._next_trial:
                    return None
                # If the end of this trial is never reported, another one is allowed after the
                # longest pause.
                self._next_trial = self._clock() + LONGEST_PAUSE
                self._generation += 1
            return self._generation

    def succeed(self, ticket: int) -> bool:
        """Record the success of a call; return whether it closed the breaker."""
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
        """Record that a call failed; the service may have asked for a `pause` in seconds.

        Returns whether this opened the breaker with a new fault. Failures of calls that had started
        before it opened do not count.
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
