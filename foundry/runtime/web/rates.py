"""Rate limits: a token bucket for each caller.

A caller is a bearer token or, on a server without tokens, a client's address. Behind a reverse
proxy every client has the proxy's address and shares one bucket, so limits there belong to the
proxy or to tokens.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from ..retrieval.settings import Limits
from .access import caller_of
from .admission import kind_of_work
from .problems import problem_response

MAX_CALLERS = 10_000
"""Buckets that are remembered; the caller who was away longest is forgotten first."""


class RateLimit:
    """Allows each caller `per_minute` requests at once, and then one every 60 / `per_minute` s.

    The clock is a monotonic one, in seconds: setting the time of day does not open or close it.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, caller: bytes) -> float:
        """Take one request from the caller's bucket; the seconds to wait if it is empty, else 0."""
        now = self._clock()
        left, since = self._buckets.pop(caller, (self._capacity, now))
        left = min(self._capacity, left + (now - since) * self._capacity / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self._capacity
        self._buckets[caller] = (left if wait else left - 1, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return wait


class RateLimits:
    """ASGI middleware: refuses callers who ask too often with 429.

    With `by_token`, callers are told apart by their tokens, which must have been checked before.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits, by_token: bool) -> None:
        self._app = app
        self._limits: dict[str, RateLimit] = {}
        if limits.requests_per_minute:
            limit = RateLimit(limits.requests_per_minute)
            self._limits |= {"search": limit, "mcp": limit}
        if limits.chat_requests_per_minute:
            self._limits["chat"] = RateLimit(limits.chat_requests_per_minute)
        self._by_token = by_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        kind = kind_of_work(scope["method"], scope["path"]) if scope["type"] == "http" else None
        limit = self._limits.get(kind) if kind else None
        wait = limit.take(caller_of(scope, by_token=self._by_token)) if limit else 0.0
        if not wait:
            await self._app(scope, receive, send)
            return
        seconds = math.ceil(wait)
        response = problem_response(
            429,
            f"You ask too often; try again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )
        await response(scope, receive, send)
