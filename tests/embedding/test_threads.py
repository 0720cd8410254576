import threading
from collections.abc import Iterator

import pytest

from foundry.embedding.providers.batching import run_threads


def double(number: int) -> Iterator[int]:
    yield number
    yield 2 * number


@pytest.mark.parametrize("count", [1, 3, 50])
def test_all_results_are_yielded(count: int) -> None:
    results = run_threads(double, range(20), count, threading.Event())
    assert sorted(results) == sorted([*range(20), *range(0, 40, 2)])


@pytest.mark.parametrize("count", [1, 3])
def test_results_before_an_error_are_yielded_first(count: int) -> None:
    def work(number: int) -> Iterator[int]:
        yield number
        if number == 5:
            raise ValueError("five")

    stop = threading.Event()
    results = []
    with pytest.raises(ValueError, match="five"):
        results.extend(run_threads(work, range(1000), count, stop))
    results = []
    stop.clear()
    with pytest.raises(ValueError, match="five"):
        for result in run_threads(work, range(1000), count, stop):
            results.append(result)
    assert {*range(6)} <= {*results}
    assert len(results) < 1000
