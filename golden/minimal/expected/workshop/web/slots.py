"""Limits the requests that a server handles concurrently."""

import asyncio

from starlette.exceptions import HTTPException

WAIT_SECONDS = 1.0


class Slots:
    """Lets `count` requests run at once; others wait up to WAIT_SECONDS, in order of arrival."""

    def __init__(self, count: int) -> None:
        self._free = asyncio.Semaphore(count)

    async def take(self) -> None:
        """Take a slot; call `give_back` once afterwards. Raises HTTPException 503."""
        try:
            async with asyncio.timeout(WAIT_SECONDS if self._free.locked() else None):
                await self._free.acquire()
        except TimeoutError:
            detail = "The server has too many requests; try again later."
            raise HTTPException(503, detail, {"Retry-After": "1"}) from None

    def give_back(self) -> None:
        """Release the slot, in the next iteration of the event loop.

        A search never awaits anything, so without this pause all waiting requests would be answered
        before the loop polls its sockets again, delaying even health checks.
        """
        asyncio.get_running_loop().call_soon(self._free.release)
