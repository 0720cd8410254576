"""Hosts that have stopped answering, so that nobody waits for each of their urls in turn."""

import threading

from foundry.fetching.failures import FetchError

MOST_FAILURES = 20
"""Urls of one host that may fail in a row."""

_SIGNS = frozenset({"too slow", "cannot be reached", "connection broke", "host not found"})
_STATUSES = frozenset({429, 503})


class HostHealth:
    """What became of the last urls of each host; for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: dict[str, int] = {}

    def check(self, host: str) -> None:
        """Raises FetchError for a host that has failed too often in a row."""
        with self._lock:
            if self._failures.get(host, 0) >= MOST_FAILURES:
                raise FetchError("host stopped answering", host)

    def succeeded(self, host: str) -> None:
        """Take note of an answer, whatever it said."""
        with self._lock:
            self._failures.pop(host, None)

    def failed(self, host: str, failure: FetchError) -> None:
        """Take note of a failure; one that is the url's own alone says nothing about the host."""
        if failure.reason in _SIGNS or failure.status in _STATUSES:
            with self._lock:
                self._failures[host] = self._failures.get(host, 0) + 1
