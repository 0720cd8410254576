"""How often a caller may ask, by a clock that the test moves."""

import pytest

from workshop.web.access import AccessPolicy, RateLimit


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


def test_the_caller_that_was_away_longest_is_forgotten_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workshop.web.access.MAX_CALLERS", 2)
    limit = RateLimit(1, Clock())
    assert [limit.take(caller) for caller in (b"a", b"b", b"a", b"b")] == [0.0, 0.0, 60.0, 60.0]
    assert limit.take(b"c") == 0.0
    # Which began anew, while those that asked later had no turn.
    assert [limit.take(caller) for caller in (b"b", b"a")] == [60.0, 0.0]


def test_callers_are_told_apart_by_token_or_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def caller(authorization: str = "", client: tuple[str, int] | None = ("10.0.0.1", 1)) -> bytes:
        headers = [(b"authorization", authorization.encode())] if authorization else []
        return policy.caller({"headers": headers, "client": client})

    monkeypatch.delenv("API_TOKENS", raising=False)
    policy = AccessPolicy.from_environment([])
    assert caller() == caller("Bearer a") == caller(client=("10.0.0.1", 2))
    assert len({caller(), caller(client=("10.0.0.2", 1)), caller(client=None)}) == 3
    monkeypatch.setenv("API_TOKENS", "t" * 32)
    policy = AccessPolicy.from_environment([])
    assert len({caller(), caller("Bearer a"), caller("Bearer b")}) == 3
    assert caller("Bearer a") == caller("Bearer a", client=("10.0.0.2", 1))
