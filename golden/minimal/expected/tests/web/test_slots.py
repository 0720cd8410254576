"""Who works at once, who waits, and who is refused."""

import asyncio

import pytest
from starlette.exceptions import HTTPException

from workshop.web.middleware import Slots


def test_turns_come_in_order_and_slots_are_never_exceeded() -> None:
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


def test_waiting_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workshop.web.middleware.WAIT_SECONDS", 0.05)

    async def check() -> None:
        slots = Slots(1)
        await slots.take()
        with pytest.raises(HTTPException, match="503"):
            await slots.take()
        slots.give_back()
        await asyncio.sleep(0)
        await slots.take()

    asyncio.run(check())
