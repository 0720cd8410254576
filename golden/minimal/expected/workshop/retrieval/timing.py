"""Times the stages of searches."""

import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

observers: list[Callable[[str, float], None]] = []
"""Called with the name of each stage and its seconds, in the thread that ran it."""


def stage(name: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Decorate a function to time its calls as the stage `name`."""

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        @wraps(function)
        def timed(*arguments: P.args, **options: P.kwargs) -> Result:
            begun = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                for observe in observers:
                    observe(name, time.perf_counter() - begun)

        return timed

    return decorate
