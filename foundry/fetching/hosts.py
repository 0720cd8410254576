"""Paces requests to hosts, and gives up on hosts that keep failing."""

import threading
import time

from foundry.documents.reasons import Reason
from foundry.fetching.failures import FetchError, StoppedError

MOST_FAILURES = 20
"""Consecutive failures after which a host is given up."""

_SIGNS = frozenset(
    {Reason.TOO_SLOW, Reason.UNREACHABLE, Reason.CONNECTION_BROKE, Reason.HOST_NOT_FOUND}
)
_STATUSES = frozenset({429, 503})


class Pacer:
    """Schedules requests some seconds apart for each host; threads can share it."""

    def __init__(self, seconds: float, stop: threading.Event) -> None:
        self._seconds = seconds
        self._stop = stop
        self._lock = threading.Lock()
        self._distances: dict[str, float] = {}
        self._next: dict[str, float] = {}

    def slow_down(self, host: str, seconds: float) -> None:
        """Use at least this interval for a host from now on."""
        with self._lock:
            self._distances[host] = max(seconds, self._distances.get(host, self._seconds))

    def hold(self, host: str, seconds: float) -> None:
        """Send no requests to a host for some seconds, since its response asked for a pause."""
        with self._lock:
            self._next[host] = max(self._next.get(host, 0.0), time.monotonic() + seconds)

    def wait_for_turn(self, host: str) -> None:
        """Block until a request to the host may start. Raises StoppedError."""
        while True:
            with self._lock:
                now = time.monotonic()
                wait = self._next.get(host, 0.0) - now
                if wait <= 0:
                    self._next[host] = now + self._distances.get(host, self._seconds)
                    if self._stop.is_set():
                        raise StoppedError
                    return
            if self._stop.wait(wait):
                raise StoppedError


class HostHealth:
    """The consecutive failures of each host; threads can share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: dict[str, int] = {}

    def check(self, host: str) -> None:
        """Raise FetchError for a host with too many failures in a row."""
        with self._lock:
            if self._failures.get(host, 0) >= MOST_FAILURES:
                raise FetchError(Reason.HOST_STOPPED, host)

    def succeeded(self, host: str) -> None:
        """Record that a host has answered, with any status."""
        with self._lock:
            self._failures.pop(host, None)

    def failed(self, host: str, failure: FetchError) -> None:
        """Record a failure, unless it only concerns the url."""
        if failure.reason in _SIGNS or failure.status in _STATUSES:
            with self._lock:
                self._failures[host] = self._failures.get(host, 0) + 1
