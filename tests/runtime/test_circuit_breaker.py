"""When calls are refused and when one is tried, with a fake clock."""

from foundry.runtime.retrieval.circuit_breaker import CircuitBreaker


class Clock:
    """A clock that tests advance by steps that floats represent exactly."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def admitted(breaker: CircuitBreaker[str]) -> int:
    ticket = breaker.admit()
    assert ticket is not None
    return ticket


def test_breaker_waits_twice_as_long_each_time() -> None:
    clock = Clock()
    breaker: CircuitBreaker[str] = CircuitBreaker(clock)
    assert breaker.fail(admitted(breaker), "down")
    for pause in (1, 2, 4, 8, 16, 32, 60, 60):
        clock.now += pause - 1 / 64
        assert breaker.admit() is None
        clock.now += 1 / 64
        ticket = admitted(breaker)
        # One call is let through as a trial.
        assert breaker.admit() is None
        assert not breaker.fail(ticket, "down")
    clock.now += 60
    assert breaker.succeed(admitted(breaker))
    assert breaker.fault is None
    assert breaker.fail(admitted(breaker), "down")
    clock.now += 1 - 1 / 64
    assert breaker.admit() is None
    clock.now += 1 / 64
    assert breaker.admit() is not None


def test_simultaneous_failures_count_once() -> None:
    clock = Clock()
    breaker: CircuitBreaker[str] = CircuitBreaker(clock)
    first, second, third = admitted(breaker), admitted(breaker), admitted(breaker)
    assert breaker.fail(first, "down")
    assert not breaker.fail(second, "worse")
    # Calls that began before the failure do not show that the service works again.
    assert not breaker.succeed(third)
    assert breaker.fault == "down"
    clock.now += 1
    trial = admitted(breaker)
    assert not breaker.succeed(third)
    assert breaker.succeed(trial)


def test_breaker_opens_after_consecutive_failures() -> None:
    clock = Clock()
    breaker: CircuitBreaker[str] = CircuitBreaker(clock, failures=3)
    for failures in (2, 1, 2):
        for _ in range(failures):
            assert not breaker.fail(admitted(breaker), "late")
        assert breaker.fault is None
        assert not breaker.succeed(admitted(breaker))
    assert not breaker.fail(admitted(breaker), "late")
    assert not breaker.fail(admitted(breaker), "late")
    assert breaker.fail(admitted(breaker), "late")
    assert breaker.admit() is None
    clock.now += 1
    # One failed trial keeps the breaker open.
    assert not breaker.fail(admitted(breaker), "late")
    assert breaker.admit() is None
    clock.now += 2
    assert breaker.succeed(admitted(breaker))
    assert not breaker.fail(admitted(breaker), "late")
    assert breaker.admit() is not None


def test_breaker_allows_another_trial_if_one_never_ends() -> None:
    clock = Clock()
    breaker: CircuitBreaker[str] = CircuitBreaker(clock)
    breaker.fail(admitted(breaker), "down")
    clock.now += 1
    lost = admitted(breaker)
    clock.now += 60 - 1 / 64
    assert breaker.admit() is None
    clock.now += 1 / 64
    found = admitted(breaker)
    assert not breaker.succeed(lost)
    assert breaker.succeed(found)
    assert not breaker.fail(lost, "down")
    assert breaker.fault is None


def test_breaker_keeps_a_requested_pause_up_to_a_limit() -> None:
    clock = Clock()
    breaker: CircuitBreaker[str] = CircuitBreaker(clock)
    breaker.fail(admitted(breaker), "busy", 20.0)
    clock.now += 20 - 1 / 64
    assert breaker.admit() is None
    clock.now += 1 / 64
    breaker.fail(admitted(breaker), "busy", 3600.0)
    clock.now += 60 - 1 / 64
    assert breaker.admit() is None
    clock.now += 1 / 64
    assert breaker.admit() is not None


def test_closed_breaker_admits_every_call() -> None:
    breaker: CircuitBreaker[str] = CircuitBreaker(Clock())
    tickets = [admitted(breaker) for _ in range(3)]
    assert [breaker.succeed(ticket) for ticket in tickets] == [False] * 3
    assert breaker.fault is None


def test_breaker_reports_which_failures_are_new() -> None:
    clock = Clock()
    breaker: CircuitBreaker[str] = CircuitBreaker(clock)
    assert breaker.fail(admitted(breaker), "down")
    clock.now += 1
    assert breaker.fail(admitted(breaker), "refused")
    assert breaker.fault == "refused"
    clock.now += 2
    assert not breaker.fail(admitted(breaker), "refused")
