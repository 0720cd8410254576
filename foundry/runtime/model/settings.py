"""Reads from the environment which language model to use, and what its use may cost."""

import os
import threading
import time
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..index.errors import ConfigurationError
from ..retrieval.settings import ADDRESS

DAY_SECONDS = 86_400

Count = Annotated[int, Field(gt=0, lt=1_000_000_000)]
Seconds = Annotated[float, Field(gt=0, lt=1_000_000_000)]

_HINT = (
    "a language model needs LLM_BASE_URL, such as https://api.example.com/v1 (no user, query or"
    " fragment), LLM_MODEL and mostly LLM_API_KEY; without all LLM_* answers are extracts"
)
_PROBLEMS = {"missing": "is not set, other LLM_* are", "string_pattern_mismatch": "is unusable"}


class ModelSettings(BaseModel):
    """An OpenAI-compatible endpoint and the limits of its use: each is a variable LLM_*."""

    model_config = ConfigDict(frozen=True)

    base_url: Annotated[str, Field(pattern=f"^(?:{ADDRESS.pattern})$")]
    model: str
    api_key: Annotated[str | None, Field(pattern="^[!-~]+$", repr=False)] = None
    max_tokens: Count = 1024
    first_token_seconds: Seconds = 30.0
    pause_seconds: Seconds = 15.0
    total_seconds: Seconds = 120.0
    concurrency: Count = 8
    daily_calls: Count | None = None

    @classmethod
    def from_environment(cls) -> "ModelSettings | None":
        """Read the variables; None if neither address, model nor key is set.

        Raises ConfigurationError for values that cannot be used; no message holds them.
        """
        variables = {name: os.environ.get(f"LLM_{name.upper()}", "") for name in cls.model_fields}
        values = {name: value.strip() for name, value in variables.items() if value.strip()}
        if values.keys().isdisjoint({"base_url", "model", "api_key"}):
            return None
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            problems = [
                f"LLM_{str(one['loc'][0]).upper()} {_PROBLEMS.get(one['type'], one['msg'].lower())}"
                for one in error.errors(include_input=False)
            ]
            raise ConfigurationError("; ".join(problems), hint=_HINT) from None


class CallBudget:
    """Counts the calls of a day by UTC; None is no limit."""

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
            self._calls += 1
            return self._daily_calls is None or self._calls <= self._daily_calls


@cache
def shared_budget(daily_calls: int | None) -> CallBudget:
    """Return the one budget of this process, whatever part of it asks."""
    return CallBudget(daily_calls)
