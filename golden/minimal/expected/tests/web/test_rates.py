"""How often a caller may ask, by a clock that the test moves."""

import pytest

from workshop.web.access import RateLimit


class Clock:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_full_bucket_then_a_steady_trickle() -> None:
    clock = Clock()
    limit = RateLimit(30, clock)
    assert [limit.take(b"a") for _ in range(30)] == [0.0] * 30
    assert limit.take(b"a") == pytest.approx(2.0)
    # Being refused costs nothing.
    clock.now += 1.5
    assert limit.take(b"a") == pytest.approx(0.5)
    clock.now += 0.5
    assert limit.take(b"a") == 0.0
    assert limit.take(b"a") == pytest.approx(2.0)
    # Others have buckets of their own.
    assert limit.take(b"b") == 0.0
    # An hour away gives a full bucket and no more.
    clock.now += 3600
    assert [limit.take(b"a") == 0.0 for _ in range(31)] == [True] * 30 + [False]
