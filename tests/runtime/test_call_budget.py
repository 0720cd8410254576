"""How often a day a language model may be asked, by a clock that the test moves."""

import pytest

from foundry.runtime.model.settings import CallBudget, shared_budget

MIDNIGHT = 20_543 * 86_400


@pytest.mark.parametrize("day", [0, MIDNIGHT])
def test_calls_of_a_day_are_counted_to_the_last(day: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = float(day)
    monkeypatch.setattr("time.time", lambda: now)
    budget = CallBudget(2)
    assert [budget.take_call() for _ in range(4)] == [True, True, False, False]
    now = day + 86_399.9
    assert not budget.take_call()
    now = day + 86_400.0
    assert [budget.take_call() for _ in range(3)] == [True, True, False]
    now = float(day)
    assert not budget.take_call()


def test_no_limit_and_none_at_all() -> None:
    unlimited = CallBudget(None)
    assert all(unlimited.take_call() for _ in range(1000))
    assert not CallBudget(0).take_call()


def test_a_process_has_one_budget() -> None:
    assert shared_budget(1) is shared_budget(1)
    assert [shared_budget(1).take_call() for _ in range(2)] == [True, False]
