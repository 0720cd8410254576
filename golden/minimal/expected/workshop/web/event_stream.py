"""Answers that come piece by piece, as server-sent events, for as long as somebody listens.

FastAPI's own event streams begin with status 200 before anything has been done. Here the first
event is waited for, so that a request which cannot be answered gets its proper status.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from fastapi.sse import KEEPALIVE_COMMENT
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

KEEP_ALIVE_SECONDS = 15.0
SEND_SECONDS = 30.0
"""For so long a client may leave an event unread."""

Result = TypeVar("Result")


class EventStream(Response):
    """Sends events as they come; a comment in every pause of 15 seconds keeps proxies waiting.

    The generator yields one event at least, and is closed as soon as the client is gone. An error
    that it raises before its first event is answered like that of any other request.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or the client is gone."""
        await while_connected(receive, self._send_events(send))

    async def _send_events(self, send: Send) -> None:
        keep_alive: asyncio.Task[None] | None = None
        try:
            async with aclosing(self._events) as events:
                async for event in events:
                    if keep_alive is None:
                        await self._start(send)
                    else:
                        keep_alive.cancel()
                    if not await _is_read(send, event):
                        return
                    keep_alive = asyncio.create_task(_keep_alive(send))
        finally:
            if keep_alive is not None:
                keep_alive.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _start(self, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )


async def while_connected(receive: Receive, work: Coroutine[Any, Any, Result]) -> Result | None:
    """Do the work; if the client leaves first, cancel it and return None."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_disconnection(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        return None
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.wait({working, watching})


async def _disconnection(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _keep_alive(send: Send) -> None:
    while True:
        await asyncio.sleep(KEEP_ALIVE_SECONDS)
        await _is_read(send, KEEPALIVE_COMMENT)


async def _is_read(send: Send, piece: bytes) -> bool:
    """Send a piece; False if the client does not take it in time."""
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except TimeoutError:
        return False
    return True
