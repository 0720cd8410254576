"""Rate limits: properties of the token bucket, with a fake clock."""

from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.web.access import RateLimit


class Clock:
    """A fake monotonic clock."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    per_minute=st.integers(1, 100),
    pauses=st.lists(st.floats(0, 5, allow_nan=False), max_size=200),
)
def test_the_rate_is_never_exceeded(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    allowed = 0
    for pause in pauses:
        clock.now += pause
        wait = limit.take(b"a")
        allowed += wait == 0.0
        assert wait <= 60 / per_minute + 1e-6
    assert allowed <= per_minute + (clock.now - 1000) * per_minute / 60 + 1e-6


def test_waiting_as_long_as_requested_suffices() -> None:
    clock = Clock()
    limit = RateLimit(7, clock)
    for _ in range(100):
        if wait := limit.take(b"a"):
            clock.now += wait + 1e-9
            assert limit.take(b"a") == 0.0
