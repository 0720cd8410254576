"""Times the stages of a search for metrics and traces."""

import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

Observer = Callable[[str, int, int], None]
"""Takes a stage's name, and its begin and end in nanoseconds of `time.perf_counter_ns`."""

_observers: list[Observer] = []


def observe_stages(observer: Observer) -> None:
    """Tell `observer` of every stage from now on, in whichever thread it ran."""
    if observer not in _observers:
        _observers.append(observer)


def stage(name: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a function that is a stage of a search."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def timed(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
            begun = time.perf_counter_ns()
            try:
                return function(*arguments, **options)
            finally:
                for observer in _observers:
                    observer(name, begun, time.perf_counter_ns())

        return timed

    return decorate
