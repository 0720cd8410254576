"""How many calls of the language model there may be: at a time, and a day."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException

from ..model.budget import CallBudget

WAIT_SECONDS = 1.0
RETRY_AFTER_SECONDS = 5


class CallLimits:
    """Hands out places for conversations, and counts the calls that are made in them."""

    def __init__(self, concurrency: int, budget: CallBudget) -> None:
        self._places = asyncio.Semaphore(concurrency)
        self._budget = budget

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place, given back at the end. Raises HTTPException 503 if none becomes free soon."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._places.acquire()
        except TimeoutError:
            raise HTTPException(
                503,
                "Too many questions are being answered now.",
                headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
            ) from None
        try:
            yield
        finally:
            self._places.release()

    def take_call(self) -> bool:
        """Count one call; False if the day, by UTC, has no more."""
        return self._budget.take_call()
