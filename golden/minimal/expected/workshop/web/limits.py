"""Limits how often a caller may ask, and how many requests work at once."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from .observing import REQUESTS_WORKING

MAX_CALLERS = 10_000
"""Callers whose rates are remembered; the one that was away longest is forgotten first."""

WAIT_SECONDS = 1.0
MAX_WAITING = 1024


class RateLimit:
    """A token bucket for each caller, which `per_minute` requests empty; `clock` is monotonic."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, caller: bytes) -> float:
        """Take one request from the caller's bucket; return the seconds to wait if it is empty."""
        now = self._clock()
        left, since = self._buckets.pop(caller, (self._capacity, now))
        left = min(self._capacity, left + (now - since) * self._capacity / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self._capacity
        self._buckets[caller] = (left if wait else left - 1, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return wait


class BusyError(Exception):
    """Too many requests wait, or this one has waited too long."""


class Slots:
    """Lets `count` requests work at a time, and up to MAX_WAITING more wait in order of arrival."""

    def __init__(self, name: str, count: int) -> None:
        self._free = asyncio.Semaphore(count)
        self._waiting = 0
        self._gauge = REQUESTS_WORKING(name)

    async def take(self) -> None:
        """Take a slot, to be given back once. Raises BusyError."""
        if self._waiting >= MAX_WAITING:
            raise BusyError
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS if self._free.locked() else None):
                await self._free.acquire()
        except TimeoutError:
            raise BusyError from None
        finally:
            self._waiting -= 1
        self._gauge.inc()

    def give_back(self) -> None:
        """Hand the slot on, in the next round of the event loop.

        A search never waits for anything, so without that pause all that have arrived would be
        answered before the loop looked at its sockets again, health checks among them.
        """
        self._gauge.dec()
        asyncio.get_running_loop().call_soon(self._free.release)
