"""Requests to a host are spaced out, whoever sends them."""

import threading
from collections.abc import Iterator

import pytest

from foundry.fetching import hosts
from foundry.fetching.failures import StoppedError
from foundry.fetching.hosts import Pacer


class Clock(threading.Event):
    """A fake clock that advances only by waiting."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0
        return self.is_set()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(hosts, "time", clock)
    yield clock


def turns(pacer: Pacer, clock: Clock, *names: str) -> list[float]:
    moments = []
    for host in names:
        pacer.wait_for_turn(host)
        moments.append(round(clock.now - 100, 3))
    return moments


def test_requests_to_one_host_are_spaced(clock: Clock) -> None:
    assert turns(Pacer(0.2, clock), clock, "a", "a", "b", "a", "b") == [0, 0.2, 0.2, 0.4, 0.4]


def test_a_slower_host(clock: Clock) -> None:
    pacer = Pacer(0.2, clock)
    pacer.slow_down("a", 2)
    pacer.slow_down("b", 0.1)
    assert turns(pacer, clock, "a", "a") == [0, 2]
    assert turns(pacer, clock, "b", "b") == [2, 2.2]


def test_a_host_can_be_put_on_hold(clock: Clock) -> None:
    pacer = Pacer(0.2, clock)
    pacer.hold("a", 5)
    pacer.hold("a", 1)
    assert turns(pacer, clock, "b", "a", "a") == [0, 5, 5.2]


def test_a_stop_ends_the_wait() -> None:
    stop = threading.Event()
    pacer = Pacer(1_000, stop)
    pacer.wait_for_turn("a")
    stop.set()
    with pytest.raises(StoppedError):
        pacer.wait_for_turn("a")
    with pytest.raises(StoppedError):
        pacer.wait_for_turn("b")
