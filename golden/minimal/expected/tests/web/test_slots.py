"""Which requests run at once, wait, or are rejected."""

import asyncio

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from workshop.settings import Limits
from workshop.web.middleware import Middleware
from workshop.web.slots import Slots


def test_requests_run_in_order_within_the_slots() -> None:
    async def check() -> None:
        slots = Slots(2)
        order: list[int] = []
        most = done = 0

        async def work(number: int) -> None:
            nonlocal most, done
            await slots.take()
            order.append(number)
            most = max(most, len(order) - done)
            await asyncio.sleep(0.001)
            done += 1
            slots.give_back()

        await asyncio.gather(*(work(number) for number in range(50)))
        assert order == list(range(50))
        assert most == 2

    asyncio.run(check())


def test_waiting_for_a_slot_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workshop.web.slots.WAIT_SECONDS", 0.05)

    async def check() -> None:
        slots = Slots(1)
        await slots.take()
        with pytest.raises(HTTPException, match="503"):
            await slots.take()
        slots.give_back()
        await asyncio.sleep(0)
        await slots.take()

    asyncio.run(check())


def test_streams_have_their_own_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workshop.web.slots.WAIT_SECONDS", 0.05)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def stream(scope: Scope, _: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/pieces":
            await send({"type": "http.response.body", "body": b"a", "more_body": True})
            begun.set()
            await go_on.wait()
        await send({"type": "http.response.body", "body": b"b"})

    async def check() -> None:
        middleware = Middleware(
            stream, allowed_hosts=frozenset(), limits=Limits(9, 1, 1), max_body_bytes=9
        )
        statuses: list[int] = []

        async def ask(path: str) -> None:
            async def send(message: Message) -> None:
                statuses.extend([message["status"]] if "status" in message else [])

            async def receive() -> Message:
                await asyncio.sleep(60)
                raise AssertionError("nothing is waited for so long")

            headers = [(b"host", b"localhost")]
            request = {"method": "GET", "path": path, "server": None, "headers": headers}
            await middleware({"type": "http", **request}, receive, send)

        first = asyncio.create_task(ask("/pieces"))
        await begun.wait()
        # The first search has ended, so others may begin, but its stream still has the only slot.
        await ask("/whole")
        await ask("/pieces")
        assert statuses == [200, 200, 503]
        go_on.set()
        await first
        await ask("/pieces")
        assert statuses == [200, 200, 503, 200]

    asyncio.run(check())
