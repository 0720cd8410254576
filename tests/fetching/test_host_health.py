"""Which failures make the fetcher give up on a host."""

import pytest

from foundry.fetching.failures import FetchError
from foundry.fetching.hosts import HostHealth


def is_given_up(health: HostHealth, host: str = "a.example") -> bool:
    try:
        health.check(host)
    except FetchError as error:
        assert error.reason == "host stopped answering"
        return True
    return False


@pytest.mark.parametrize(
    ("failure", "counts"),
    [
        *((FetchError(f"status {status}", status=status), True) for status in (429, 503)),
        *((FetchError(f"status {s}", status=s), False) for s in (404, 428, 430, 500, 502, 504)),
        *(
            (FetchError(reason), True)
            for reason in ("too slow", "cannot be reached", "connection broke", "host not found")
        ),
        (FetchError("malformed answer"), False),
    ],
)
def test_twenty_consecutive_failures_give_up_a_host(failure: FetchError, counts: bool) -> None:
    health = HostHealth()
    for _ in range(19):
        health.failed("a.example", failure)
    assert not is_given_up(health)
    health.failed("a.example", failure)
    assert is_given_up(health) == counts
    assert not is_given_up(health, "b.example")


def test_a_response_resets_the_count_of_failures() -> None:
    health = HostHealth()
    for _ in range(2):
        for _ in range(19):
            health.failed("a.example", FetchError("too slow"))
        assert not is_given_up(health)
        health.succeeded("a.example")
    health.succeeded("b.example")
    assert not is_given_up(health, "b.example")
