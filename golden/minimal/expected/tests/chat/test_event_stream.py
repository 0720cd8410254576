"""Event streams, in process: when they begin, keep-alive comments, and when they are closed."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from workshop.chat.routes import EventStream


class Client:
    """The client side of one response."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


class Events:
    """A stream of events that records that it was closed."""

    def __init__(self, *pauses: float) -> None:
        self._pauses = pauses
        self.closed = False

    async def stream(self) -> AsyncGenerator[bytes, None]:
        try:
            for number, pause in enumerate(self._pauses):
                await asyncio.sleep(pause)
                yield b"%d;" % number
        finally:
            self.closed = True


async def serve(client: Client, events: AsyncGenerator[bytes, None]) -> None:
    async with asyncio.timeout(20):
        await EventStream(events)({"type": "http"}, client.receive, client.send)


def test_comments_keep_a_pausing_stream_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workshop.chat.routes.KEEP_ALIVE_SECONDS", 0.05)

    async def check() -> None:
        client, events = Client(), Events(0.2, 0.5, 0)
        await serve(client, events.stream())
        assert client.sent[0]["status"] == 200
        assert client.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
        first, *others = client.body.split(b": ping\n\n")
        assert first == b"0;"
        # On a busy machine, any pause can be long enough for another comment.
        assert b"".join(others) == b"1;2;"
        assert events.closed

    asyncio.run(check())


def test_an_error_before_the_first_event_sends_nothing() -> None:
    async def refuse() -> AsyncGenerator[bytes, None]:
        raise HTTPException(503)
        yield b""

    async def check() -> None:
        client = Client()
        with pytest.raises(HTTPException):
            await serve(client, refuse())
        assert client.sent == []

    asyncio.run(check())


def test_events_are_closed_when_the_client_leaves() -> None:
    async def check() -> None:
        client, events = Client(), Events(0, 60)
        serving = asyncio.create_task(serve(client, events.stream()))
        while not client.body:
            await asyncio.sleep(0.01)
        client.gone.set()
        await serving
        assert events.closed

    asyncio.run(check())
