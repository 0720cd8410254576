"""How long-running work ends when the server stops."""

import asyncio

import pytest

from workshop.web.stopping import ServerStoppingError, Stopping


def test_work_may_continue_until_the_deadline() -> None:
    async def check() -> None:
        stopping, said = Stopping(), []

        async def work(name: str) -> None:
            try:
                async with stopping.in_time():
                    await asyncio.sleep(3600)
            except ServerStoppingError as error:
                said.append((name, error.status_code, error.headers))

        before = asyncio.create_task(work("begun before the stop"))
        await asyncio.sleep(0)
        assert not stopping.has_begun
        stopping.begin(asyncio.get_running_loop().time() + 0.05)
        assert stopping.has_begun
        async with stopping.in_time():
            await asyncio.sleep(0)
        assert said == []
        await asyncio.gather(before, work("begun after it"))
        assert {name for name, _, _ in said} == {"begun before the stop", "begun after it"}
        assert {status for _, status, _ in said} == {503}
        assert all(headers == {"Retry-After": "1"} for _, _, headers in said)

    asyncio.run(check())


def test_other_timeouts_are_not_reported_as_stopping() -> None:
    async def check() -> None:
        stopping = Stopping()
        with pytest.raises(TimeoutError):
            async with stopping.in_time(), asyncio.timeout(0):
                await asyncio.sleep(3600)

    asyncio.run(check())
