"""How much a server takes on: how often one caller may ask, how many requests work at once.

Under overload requests wait in order of arrival, for a second at most, and are then refused with
503: what is accepted is answered in bounded time, and refusing costs almost nothing.

Sending is not work: whoever reads slowly holds nothing that a search needs. An answer in pieces, a
stream, takes memory and time until it has been read, so that streams have a number of their own.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.types import Scope, Send

from .observing import REQUESTS_WAITING, REQUESTS_WORKING, Outcome

MAX_CALLERS = 10_000
"""Buckets that are remembered; the caller who was away longest is forgotten first."""

WAIT_SECONDS = 1.0
MAX_WAITING = 1024

STALL_SECONDS = 30.0
MIN_BYTES_PER_SECOND = 16_384
"""A client may keep a stream waiting for STALL_SECONDS and the time that this rate gives it."""

PIECE_BYTES = "piece_bytes"
"""The key of a request's scope for the length of the last piece of its answer; see `protocol`."""

SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
"""Set on every answer that does not set them itself."""


class RateLimit:
    """Allows each caller `per_minute` requests at once, and then one every 60 / `per_minute` s.

    A token bucket for each. The clock is a monotonic one, in seconds: setting the time of day does
    not open or close it.
    """

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


class Slots:
    """Lets `count` requests work at a time; up to MAX_WAITING more wait their turn, in order.

    For one event loop. `name` labels the gauges.
    """

    def __init__(self, name: str, count: int) -> None:
        self._free = asyncio.Semaphore(count)
        self._waiting = 0
        self._working_gauge = REQUESTS_WORKING(name)
        self._waiting_gauge = REQUESTS_WAITING(name)

    async def take(self) -> bool:
        """Take a slot, to be given back once; return False if none came free in time."""
        if not self._free.locked():
            await self._free.acquire()
        elif not await self._wait():
            return False
        self._working_gauge.inc()
        return True

    async def _wait(self) -> bool:
        if self._waiting >= MAX_WAITING:
            return False
        self._waiting += 1
        try:
            with self._waiting_gauge.track_inprogress():
                async with asyncio.timeout(WAIT_SECONDS):
                    return await self._free.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    def give_back(self) -> None:
        """Hand the slot on, in the next round of the event loop.

        A search never waits for anything, so without that pause all that have arrived would be
        answered before the loop looked at its sockets again, health checks among them.
        """
        self._working_gauge.dec()
        asyncio.get_running_loop().call_soon(self._free.release)


class StreamSlots:
    """Lets `count` answers be sent in pieces at a time, half of them to one caller."""

    def __init__(self, count: int) -> None:
        self._slots = Slots("stream", count)
        self._share = max(1, count // 2)
        self._callers: Counter[bytes] = Counter()

    async def take(self, caller: bytes) -> bool:
        """Take a slot, to be given back once; return False if none came free in time."""
        if self._callers[caller] >= self._share:
            return False
        self._callers[caller] += 1
        taken = False
        try:
            taken = await self._slots.take()
        finally:
            if not taken:
                self._forget(caller)
        return taken

    def give_back(self, caller: bytes) -> None:
        """Give the caller's slot back."""
        self._forget(caller)
        self._slots.give_back()

    def _forget(self, caller: bytes) -> None:
        self._callers[caller] -= 1
        if not self._callers[caller]:
            del self._callers[caller]


class AnswerEndedError(Exception):
    """Nobody wants the rest of an answer: it was for HEAD, or its client does not read it."""


class StreamRefusedError(Exception):
    """An answer in pieces cannot begin now; nothing of it has been sent."""


class Answer:
    """Sends one answer, and gives the slot of its work back as soon as the work is done.

    That is when its body is there, or begins to come in pieces; then it needs a slot for streams.
    The head of an answer is held until it is known which of these it is.
    """

    def __init__(self, scope: Scope, send: Send, outcome: Outcome, request_id: bytes) -> None:
        self.outcome = outcome
        self.has_begun = False
        self._scope = scope
        self._send = send
        self._request_id = request_id
        self._head: MutableMapping[str, Any] = {}
        self._slots: Slots | None = None
        self._streams: StreamSlots | None = None
        self._caller = b""
        self._is_stream = False
        self._waited_seconds = 0.0

    def begin_work(self, slots: Slots, streams: StreamSlots | None, caller: bytes) -> None:
        """Hold a slot that was taken; without `streams`, until the answer ends."""
        self._slots, self._streams, self._caller = slots, streams, caller

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a part. Raises StreamRefusedError and AnswerEndedError."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        body, is_more = message.get("body", b""), message.get("more_body", False)
        is_head = self._scope["method"] == "HEAD"
        if not self.has_begun:
            await self._begin(is_stream=is_more and not is_head)
        if is_head:
            await self._send({**message, "body": b"", "more_body": False})
            if is_more:
                raise AnswerEndedError
            return
        self._scope[PIECE_BYTES] = len(body)
        self.outcome.sent_bytes += len(body)
        if not self._is_stream:
            await self._send(message)
            return
        clock = asyncio.get_running_loop().time
        begun = clock()
        await self._send(message)
        self._waited_seconds += clock() - begun
        earned_seconds = self.outcome.sent_bytes / MIN_BYTES_PER_SECOND
        if self._waited_seconds > STALL_SECONDS + earned_seconds:
            # The answer stays unfinished, which closes the connection.
            raise AnswerEndedError

    async def _begin(self, *, is_stream: bool) -> None:
        if self._streams is not None:
            self._end_work()
            if is_stream:
                if not await self._streams.take(self._caller):
                    raise StreamRefusedError
                self._is_stream = True
        self.has_begun = True
        self.outcome.status = self._head["status"]
        headers = self._head["headers"]
        present = {name for name, _ in headers}
        self._head["headers"] = [
            *headers,
            *(header for header in SECURITY_HEADERS if header[0] not in present),
            (b"x-request-id", self._request_id),
        ]
        await self._send(self._head)

    def _end_work(self) -> None:
        if self._slots is not None:
            self._slots.give_back()
            self._slots = None

    def end(self) -> None:
        """Give everything back."""
        self._end_work()
        if self._is_stream and self._streams is not None:
            self._streams.give_back(self._caller)
            self._is_stream = False
