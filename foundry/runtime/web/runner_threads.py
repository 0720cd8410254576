"""Where searches run: in threads, since each may wait for the model that embeds its query."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

THREADS = 64
"""Shared by all doors; what is more waits for a thread."""

Result = TypeVar("Result")

_threads = ThreadPoolExecutor(THREADS, "search")


class SearchRunner:
    """Runs searches side by side; the event loop goes on meanwhile."""

    async def run(self, search: Callable[[], Result]) -> Result:
        """What a search returns or raises."""
        run = partial(copy_context().run, search)
        return await asyncio.get_running_loop().run_in_executor(_threads, run)
