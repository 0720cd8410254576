"""The language model that the owner chose in the environment, and what its use may cost."""

import math
import os
import re
import threading
import time
from dataclasses import dataclass, field
from functools import cache

from ..index.errors import ConfigurationError
from ..retrieval.settings import ADDRESS

DAY_SECONDS = 86_400

_HEADER_TEXT = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """An OpenAI-compatible endpoint and the limits of its use; times are in seconds.

    `first_token_seconds` counts from the question, `pause_seconds` between two pieces of an
    answer, `total_seconds` to its end. `daily_calls` is per UTC day; None is no limit.
    """

    base_url: str
    model: str
    api_key: str | None = field(repr=False)
    max_tokens: int
    first_token_seconds: float
    pause_seconds: float
    total_seconds: float
    concurrency: int
    daily_calls: int | None

    @classmethod
    def from_environment(cls) -> "ModelSettings | None":
        """Read LLM_BASE_URL, LLM_MODEL, LLM_API_KEY and the limits; None if no LLM_* is set.

        Raises ConfigurationError for values that cannot be used; no message holds the key.
        """
        base_url, model, api_key = map(_read, ("LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"))
        if base_url is None and model is None and api_key is None:
            return None
        if base_url is None or model is None:
            raise ConfigurationError(
                f"{'LLM_MODEL' if base_url else 'LLM_BASE_URL'} is not set, other LLM_* are",
                hint="a language model needs LLM_BASE_URL and LLM_MODEL, most also LLM_API_KEY;"
                " without any of them answers are extracted from the documents",
            )
        if not ADDRESS.fullmatch(base_url):
            raise ConfigurationError(
                "LLM_BASE_URL must be an http or https address without user, query or fragment",
                hint="write it as https://api.example.com/v1; the key goes into LLM_API_KEY",
            )
        if api_key is not None and not _HEADER_TEXT.fullmatch(api_key):
            raise ConfigurationError(
                "LLM_API_KEY holds characters that no key has", hint="copy the key again"
            )
        return cls(
            base_url=base_url.rstrip("/"),
            model=model,
            api_key=api_key,
            max_tokens=_count("LLM_MAX_TOKENS") or 1024,
            first_token_seconds=_number("LLM_FIRST_TOKEN_SECONDS") or 30.0,
            pause_seconds=_number("LLM_PAUSE_SECONDS") or 15.0,
            total_seconds=_number("LLM_TOTAL_SECONDS") or 120.0,
            concurrency=_count("LLM_CONCURRENCY") or 8,
            daily_calls=_count("LLM_DAILY_CALLS"),
        )


def _read(variable: str) -> str | None:
    return os.environ.get(variable, "").strip() or None


def _count(variable: str) -> int | None:
    value = _number(variable, whole=True)
    return None if value is None else int(value)


def _number(variable: str, *, whole: bool = False) -> float | None:
    """Read a number above 0; None if the variable is not set. Raises ConfigurationError."""
    written = _read(variable)
    if written is None:
        return None
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e9 or (whole and value != int(value)):
        raise ConfigurationError(
            f"{variable} must be a {'whole ' if whole else ''}number above 0, got {written!r}",
            hint=f"correct or unset {variable}",
        )
    return value


class CallBudget:
    """Counts calls of the model, afresh each day by UTC; None is no limit."""

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
    """Return the one budget of this process, whatever part of it asks."""
    return CallBudget(daily_calls)
