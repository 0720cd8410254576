"""Decide when to ask a failing service again, and when to stop.

Waits grow exponentially with full jitter (Brooker, "Exponential Backoff And Jitter", 2015), and are
never shorter than the service asks for by Retry-After, which holds back all calls alike. What is
limited is the time since the service began to fail, so that a build of hours may be slowed down
any number of times.
"""

import random
import threading
import time

from foundry.errors import BuildError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0
UNPROVEN_SECONDS = 30.0
"""Of trying where nothing has answered yet: the address may be wrong."""


class StoppedError(Exception):
    """The run was stopped while a call waited."""


class Patience:
    """Shared by all threads of a run.

    Args:
        seconds: How long a service may go on failing.
        stop: Set when the run is to end.
    """

    def __init__(self, seconds: float, stop: threading.Event) -> None:
        self._seconds = seconds
        self._stop = stop
        self._lock = threading.Lock()
        self._failing_since: float | None = None
        self._not_before = 0.0
        self._proven = False

    def succeeded(self) -> None:
        """Note that a call was answered well."""
        with self._lock:
            self._failing_since = None
            self._proven = True

    def wait_for_turn(self) -> None:
        """Wait as long as the service has asked for. Raises StoppedError."""
        self._wait(self._not_before - time.monotonic())

    def wait_after(self, failure: EmbeddingFailure, attempt: int) -> None:
        """Wait before a call is repeated, of which `attempt` have failed.

        Raises:
            BuildError: When the time is used up.
            StoppedError: When the run was stopped.
        """
        now = time.monotonic()
        with self._lock:
            if self._failing_since is None:
                self._failing_since = now
            allowed = self._seconds
            if failure.is_unreachable and not self._proven:
                allowed = min(allowed, UNPROVEN_SECONDS)
            left = self._failing_since + allowed - now
            if left <= 0:
                raise gave_up(failure, now - self._failing_since)
            wait = random.uniform(0, min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**attempt))
            wait = min(max(wait, failure.retry_after or 0.0), left)
            if failure.retry_after:
                self._not_before = max(self._not_before, now + min(failure.retry_after, left))
        self._wait(wait)

    def _wait(self, seconds: float) -> None:
        if self._stop.is_set() or (seconds > 0 and self._stop.wait(seconds)):
            raise StoppedError


def gave_up(failure: EmbeddingFailure, seconds: float) -> BuildError:
    """Return the error of a service that goes on failing."""
    kept = "what is embedded already is kept: build again to go on from there"
    return BuildError(
        f"{failure.message} (given up after {seconds:.0f} s)",
        hint=f"{failure.hint}; {kept}" if failure.hint else kept,
    )
