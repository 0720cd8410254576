"""Server-sent events that, unlike FastAPI's, begin with the first one, so that errors show."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi.sse import KEEPALIVE_COMMENT
from starlette.responses import StreamingResponse
from starlette.types import Send

KEEP_ALIVE_SECONDS = 15.0


class EventStream(StreamingResponse):
    """Sends events as they come, and a comment every 15 seconds that keeps proxies waiting.

    The generator yields one event at least, and is closed as soon as the client is gone. An error
    that it raises before its first event is answered like that of any other request.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, headers={"X-Accel-Buffering": "no"})
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """Send the events until they end; Starlette cancels this when the client is gone."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        async with aclosing(self._events) as events:
            first = await anext(events)
            await send(start)
            keep_alive = asyncio.create_task(_keep_alive(send))
            try:
                await _send_piece(send, first)
                async for event in events:
                    await _send_piece(send, event)
            finally:
                keep_alive.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _keep_alive(send: Send) -> None:
    while True:
        await asyncio.sleep(KEEP_ALIVE_SECONDS)
        await _send_piece(send, KEEPALIVE_COMMENT)


async def _send_piece(send: Send, piece: bytes) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": True})
