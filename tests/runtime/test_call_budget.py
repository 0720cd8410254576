"""The daily budget of calls to a language model, with a fake clock."""

from collections import Counter

import pytest

from foundry.runtime.model import client
from foundry.runtime.model.client import take_call

MIDNIGHT = 20_543 * 86_400


@pytest.fixture(autouse=True)
def no_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has made no call yet."""
    monkeypatch.setattr(client, "_calls", Counter())


@pytest.mark.parametrize("day", [0, MIDNIGHT])
def test_calls_of_a_day_are_limited(day: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = float(day)
    monkeypatch.setattr("time.time", lambda: now)
    assert [take_call(2) for _ in range(4)] == [True, True, False, False]
    now = day + 86_399.9
    assert not take_call(2)
    now = day + 86_400.0
    assert [take_call(2) for _ in range(3)] == [True, True, False]
    now = float(day)
    assert not take_call(2)


def test_no_limit_and_a_limit_of_zero() -> None:
    assert all(take_call(None) for _ in range(1000))
    assert not take_call(0)
