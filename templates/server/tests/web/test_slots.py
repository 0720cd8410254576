"""Who works at once, who waits, and who is refused."""

import asyncio

import pytest
from starlette.exceptions import HTTPException

from foundry.runtime.web.middleware import Observer, Slots


class Counter(Observer):
    """Counts those that work."""

    now = 0

    def working(self, kind: str, change: int) -> None:
        assert kind == "test"
        self.now += change


def test_turns_come_in_order_and_slots_are_never_exceeded() -> None:
    async def check() -> None:
        counter = Counter()
        slots = Slots("test", 2, counter)
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
        await asyncio.sleep(0)
        assert counter.now == 0

    asyncio.run(check())


def test_waiting_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foundry.runtime.web.middleware.WAIT_SECONDS", 0.05)

    async def check() -> None:
        counter = Counter()
        slots = Slots("test", 1, counter)
        await slots.take()
        with pytest.raises(HTTPException, match="503"):
            await slots.take()
        assert counter.now == 1
        slots.give_back()
        await asyncio.sleep(0)
        await slots.take()

    asyncio.run(check())


def test_queue_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foundry.runtime.web.middleware.WAIT_SECONDS", 60.0)

    async def check() -> None:
        slots = Slots("test", 1, Counter())
        await slots.take()
        waiting = [asyncio.create_task(slots.take()) for _ in range(1025)]
        await asyncio.sleep(0)
        assert [task.done() for task in waiting] == [False] * 1024 + [True]
        with pytest.raises(HTTPException, match="503"):
            await waiting.pop()
        for task in waiting:
            slots.give_back()
            await task

    asyncio.run(check())
