"""Reads from the environment which language model to use, and what its use may cost."""

import os
import threading
import time
from collections import Counter
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..index.errors import ConfigurationError
from ..retrieval.settings import ADDRESS

DAY_SECONDS = 86_400

_calls: Counter[int] = Counter()
_counting = threading.Lock()

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


def take_call(daily_calls: int | None) -> bool:
    """Count a call of this process; False if the day, by UTC, has no more. None is no limit."""
    with _counting:
        # A clock that is set back begins no new day.
        day = max(int(time.time() // DAY_SECONDS), *_calls, 0)
        _calls[day] += 1
        return daily_calls is None or _calls[day] <= daily_calls
