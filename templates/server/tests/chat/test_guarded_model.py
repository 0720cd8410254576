"""When a stalled model is bypassed and called again, with a fake clock."""

import asyncio
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest

from foundry.runtime.chat.guarded_model import MAX_TIMEOUTS, GuardedModel, ModelStalledError
from foundry.runtime.model.replies import EmptyReplyError, ModelChunk, ModelError, ModelTimeoutError

LATE = ModelTimeoutError("took too long")
QUESTION = [{"role": "user", "content": "When is the valve replaced?"}]


class Model:
    """Answers or fails as configured; `asked` has the messages of each call."""

    settings = SimpleNamespace()
    failure: ModelError | None = None

    def __init__(self) -> None:
        self.asked: list[list[dict[str, str]]] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def stream(
        self, messages: list[dict[str, str]], _max_tokens: int, **_options: object
    ) -> AsyncGenerator[ModelChunk, None]:
        self.asked.append(messages)
        await self.may_answer.wait()
        if self.failure:
            raise self.failure
        yield ModelChunk("Yearly.", "stop")

    async def complete(self, messages: list[dict[str, str]], *_: object) -> ModelChunk:
        self.asked.append(messages)
        return ModelChunk("Yearly.", "stop")


class Guarded:
    """A guarded model, and its fake clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.behind = Model()
        model: Any = self.behind
        self.model = GuardedModel(model, lambda: self.now)

    async def ask(self) -> str:
        return "".join([chunk.text async for chunk in self.model.stream(QUESTION, 100)])

    async def fail(self, failure: ModelError, times: int) -> None:
        self.behind.failure = failure
        for _ in range(times):
            with pytest.raises(type(failure)):
                await self.ask()


async def settle() -> None:
    """Let the probe run."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_timeouts_in_a_row_end_the_asking_until_a_probe_is_answered() -> None:
    async def check() -> None:
        guarded = Guarded()
        await guarded.fail(LATE, MAX_TIMEOUTS)
        for _ in range(3):
            with pytest.raises(ModelStalledError):
                await guarded.ask()
        with pytest.raises(ModelStalledError):
            await guarded.model.complete(QUESTION, 100, 1.0)
        assert len(guarded.behind.asked) == MAX_TIMEOUTS
        guarded.now += 1.0
        guarded.behind.failure = None
        guarded.behind.may_answer.clear()
        # Until the probe succeeds, questions do not wait for it, and no other probe is sent.
        for _ in range(3):
            with pytest.raises(ModelStalledError):
                await guarded.ask()
            await settle()
        assert len(guarded.behind.asked) == MAX_TIMEOUTS + 1
        assert guarded.behind.asked[-1] != QUESTION
        guarded.behind.may_answer.set()
        await settle()
        assert await guarded.ask() == "Yearly."

    asyncio.run(check())


def test_probe_that_fails_is_followed_by_a_longer_pause() -> None:
    async def check() -> None:
        guarded = Guarded()
        await guarded.fail(LATE, MAX_TIMEOUTS)
        for pause in (1.0, 2.0, 4.0):
            guarded.now += pause - 1 / 64
            with pytest.raises(ModelStalledError):
                await guarded.ask()
            await settle()
            before = len(guarded.behind.asked)
            guarded.now += 1 / 64
            with pytest.raises(ModelStalledError):
                await guarded.ask()
            await settle()
            assert len(guarded.behind.asked) == before + 1

    asyncio.run(check())


def test_an_answer_in_between_begins_the_count_anew() -> None:
    async def check() -> None:
        guarded = Guarded()
        for _ in range(3):
            await guarded.fail(LATE, MAX_TIMEOUTS - 1)
            guarded.behind.failure = None
            assert await guarded.ask() == "Yearly."

    asyncio.run(check())


def test_failures_that_come_at_once_leave_it_asked() -> None:
    async def check() -> None:
        guarded = Guarded()
        await guarded.fail(ModelError("answered 500"), 2 * MAX_TIMEOUTS)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("failure", "is_alive"),
    [(EmptyReplyError("returned an empty answer"), True), (ModelError("answered 500"), False)],
)
def test_any_reply_to_a_probe_will_do(failure: ModelError, is_alive: bool) -> None:
    async def check() -> None:
        guarded = Guarded()
        await guarded.fail(LATE, MAX_TIMEOUTS)
        guarded.now += 1.0
        guarded.behind.failure = failure
        with pytest.raises(ModelStalledError):
            await guarded.ask()
        await settle()
        guarded.behind.failure = None
        if is_alive:
            assert await guarded.ask() == "Yearly."
        else:
            with pytest.raises(ModelStalledError):
                await guarded.ask()

    asyncio.run(check())
