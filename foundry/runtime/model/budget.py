"""How often a day the language model may be asked, by all parts of this process together."""

import threading
import time
from functools import cache

DAY_SECONDS = 86_400


class CallBudget:
    """Counts calls, and begins anew with each day by UTC; None is no limit."""

    def __init__(self, daily_calls: int | None) -> None:
        self._daily_calls = daily_calls
        self._lock = threading.Lock()
        self._day = 0
        self._calls = 0

    def take_call(self) -> bool:
        """Count one call; False if the day has no more."""
        with self._lock:
            day = int(time.time() // DAY_SECONDS)
            if day > self._day:
                self._day, self._calls = day, 0
            if self._daily_calls is not None and self._calls >= self._daily_calls:
                return False
            self._calls += 1
            return True


@cache
def shared_budget(daily_calls: int | None) -> CallBudget:
    """The budget of this process."""
    return CallBudget(daily_calls)
