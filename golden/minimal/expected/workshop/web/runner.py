"""Where searches run: in the event loop, or in threads if each may wait for something."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

from ..retrieval.results import SearchResponse

THREADS = 64
"""Shared by all doors; what is more waits for a thread."""

AsyncSearch = Callable[..., Awaitable[SearchResponse]]


def in_event_loop(search: Callable[..., SearchResponse]) -> AsyncSearch:
    """Run searches one after the other.

    A search is a millisecond or so of pure computing. At 32 connections, a thread pool was measured
    to answer a third fewer searches per second, since the threads contend for the interpreter lock.
    """

    async def run(*arguments: Any, **options: Any) -> SearchResponse:
        return search(*arguments, **options)

    return run


def in_threads(search: Callable[..., SearchResponse]) -> AsyncSearch:
    """Run searches side by side; the event loop goes on while one waits, such as for a model."""
    threads = ThreadPoolExecutor(THREADS, "search")

    async def run(*arguments: Any, **options: Any) -> SearchResponse:
        call = partial(copy_context().run, search, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(threads, call)

    return run
