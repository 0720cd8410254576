"""Ends work that is still running when the server stops, after a share of the grace period."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException


class ServerStoppingError(HTTPException):
    """Ends work that a stopping server no longer waits for; its response status is 503."""

    def __init__(self) -> None:
        super().__init__(
            503, "The server is stopping; try again in a moment.", {"Retry-After": "1"}
        )


class Stopping:
    """The deadline of long-running work; None until the server stops."""

    def __init__(self) -> None:
        self._time: float | None = None
        self._timers: set[asyncio.Timeout] = set()
        self.last: list[Callable[[], None]] = []  # Called after the last request.

    @property
    def has_begun(self) -> bool:
        """Whether the server is stopping."""
        return self._time is not None

    def begin(self, time: float) -> None:
        """Set the deadline, in the event loop's time."""
        self._time = time
        for timer in self._timers:
            timer.reschedule(time)

    @asynccontextmanager
    async def in_time(self) -> AsyncIterator[None]:
        """Run a block, which ServerStoppingError ends at the deadline.

        In an async generator, the block must not contain a `yield`: that would cancel the caller.
        """
        timer = asyncio.timeout_at(self._time)
        try:
            async with timer:
                self._timers.add(timer)
                yield
        except TimeoutError:
            if timer.expired():
                raise ServerStoppingError from None
            raise
        finally:
            self._timers.discard(timer)


stopping = Stopping()
"""One per process, like the server."""
