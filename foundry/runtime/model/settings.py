"""Which language model answers, and what its use may cost: read from the environment."""

import math
import os
import re
from dataclasses import dataclass, field

from ..index.errors import ConfigurationError
from ..retrieval.settings import ADDRESS

_HEADER_TEXT = re.compile(r"[!-~]+")

_DEFAULTS = {
    "LLM_MAX_TOKENS": 1024.0,
    "LLM_FIRST_TOKEN_SECONDS": 30.0,
    "LLM_PAUSE_SECONDS": 15.0,
    "LLM_TOTAL_SECONDS": 120.0,
    "LLM_CONCURRENCY": 8.0,
}
_COUNTS = frozenset({"LLM_MAX_TOKENS", "LLM_CONCURRENCY", "LLM_DAILY_CALLS"})


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
        daily_calls = _read("LLM_DAILY_CALLS")
        return cls(
            base_url=base_url.rstrip("/"),
            model=model,
            api_key=api_key,
            max_tokens=int(_limit("LLM_MAX_TOKENS")),
            first_token_seconds=_limit("LLM_FIRST_TOKEN_SECONDS"),
            pause_seconds=_limit("LLM_PAUSE_SECONDS"),
            total_seconds=_limit("LLM_TOTAL_SECONDS"),
            concurrency=int(_limit("LLM_CONCURRENCY")),
            daily_calls=None if daily_calls is None else int(_limit("LLM_DAILY_CALLS")),
        )


def _read(variable: str) -> str | None:
    return os.environ.get(variable, "").strip() or None


def _limit(variable: str) -> float:
    written = _read(variable)
    if written is None:
        return _DEFAULTS[variable]
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    is_count = variable in _COUNTS
    if not 0 < value < 1e9 or (is_count and value != int(value)):
        raise ConfigurationError(
            f"{variable} must be a {'whole ' if is_count else ''}number above 0, got {written!r}",
            hint=f"correct or unset {variable}",
        )
    return value
