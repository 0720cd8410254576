"""How many pictures of a document are read: limits of pages, of pixels and of time."""

import time

import pytest

from foundry.readers.allowance import Allowance, allowing_pictures, current_allowance


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The processor time of this process, set by tests."""
    now = [1_000.0]
    monkeypatch.setattr(time, "process_time", lambda: now[0])
    return now


def outcome(allowance: Allowance) -> tuple[int, int, bool]:
    return allowance.read, allowance.unread, allowance.is_late


def test_pages_are_limited() -> None:
    allowance = Allowance(2)
    assert [allowance.take() for _ in range(4)] == [True, True, False, False]
    assert outcome(allowance) == (2, 2, False)


@pytest.mark.parametrize(
    ("pages", "pixels", "may_be_read"),
    [
        (1, [20_000_000], [True]),
        (1, [20_000_001], [False]),
        (2, [40_000_000, 0], [True, True]),
        (2, [20_000_000, 20_000_001], [True, False]),
        # Once the limit is reached, even small pictures are refused.
        (3, [60_000_001, 1], [False, False]),
    ],
)
def test_pixels_of_all_pages_are_limited(
    pages: int, pixels: list[int], may_be_read: list[bool]
) -> None:
    allowance = Allowance(pages)
    assert [allowance.take(each) for each in pixels] == may_be_read
    assert outcome(allowance) == (may_be_read.count(True), may_be_read.count(False), False)


def test_pages_of_unknown_size_count_no_pixels() -> None:
    before, after = Allowance(2), Allowance(2)
    assert (before.take(), before.take(40_000_001)) == (True, False)
    assert (after.take(40_000_000), after.take()) == (True, True)


@pytest.mark.parametrize(("seconds", "is_late"), [(60.0, False), (60.1, True)])
def test_time_of_all_pages_is_limited(seconds: float, is_late: bool, clock: list[float]) -> None:
    allowance = Allowance(3)
    assert allowance.take()
    clock[0] += seconds
    assert allowance.take() is not is_late
    assert outcome(allowance) == ((1, 1, True) if is_late else (2, 0, False))


def test_outcome_stays_late(clock: list[float]) -> None:
    allowance = Allowance(1)
    clock[0] += 21
    assert (allowance.take(), allowance.take(20_000_001)) == (False, False)
    assert outcome(allowance) == (0, 2, True)


def test_pages_over_the_limit_are_not_late(
    clock: list[float],
) -> None:
    allowance = Allowance(1)
    assert allowance.take()
    clock[0] += 1_000
    assert not allowance.take()
    assert outcome(allowance) == (1, 1, False)


def test_documents_have_their_own_allowance() -> None:
    with allowing_pictures(7) as outer:
        with allowing_pictures(9) as inner:
            assert current_allowance() is inner
        assert current_allowance() is outer
    assert (outer.pages, inner.pages, current_allowance().pages) == (7, 9, 50)
