"""How many requests a server works on at a time."""

import asyncio

from starlette.exceptions import HTTPException

WAIT_SECONDS = 1.0


class Slots:
    """Lets `count` requests work at a time; others wait for WAIT_SECONDS, in order of arrival."""

    def __init__(self, count: int) -> None:
        self._free = asyncio.Semaphore(count)

    async def take(self) -> None:
        """Take a slot, to be given back once. Raises HTTPException 503."""
        try:
            async with asyncio.timeout(WAIT_SECONDS if self._free.locked() else None):
                await self._free.acquire()
        except TimeoutError:
            detail = "The server has more requests than it can answer now; try again later."
            raise HTTPException(503, detail, {"Retry-After": "1"}) from None

    def give_back(self) -> None:
        """Hand the slot on, in the next round of the event loop.

        A search never waits for anything, so without that pause all that have arrived would be
        answered before the loop looked at its sockets again, health checks among them.
        """
        asyncio.get_running_loop().call_soon(self._free.release)
