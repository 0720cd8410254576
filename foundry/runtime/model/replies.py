"""What a language model's endpoint sends, read with suspicion."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

OPTIONAL_PARAMETERS = (
    "max_tokens",
    "response_format",
    "stream_options",
    "temperature",
    "top_p",
)
"""Parameters that some endpoints or models refuse, and that can be left out or named anew."""

_REFUSALS = (
    "unsupported",
    "not support",
    "unknown",
    "unrecognized",
    "not permitted",
    "not allowed",
    "unexpected",
    "extra_forbidden",
)

MAX_COUNT = 1_000_000_000


class ModelError(Exception):
    """The language model gives no answer; the message says why, as in "it took too long"."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a call took."""

    prompt_tokens: int
    completion_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def to_json(self) -> dict[str, int]:
        """The counts under OpenAI's names."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A piece of a reply; the reason why it ended and the usage come with the last."""

    text: str = ""
    finish_reason: Literal["stop", "length"] | None = None
    usage: Usage | None = None


def read_event(data: str) -> ModelChunk:
    """Read one event of a streamed chat completion. Raises ModelError for anything else."""
    try:
        payload = json.loads(data)
        if payload.get("error"):
            raise ModelError("reported an error")
        choices = payload.get("choices") or [{}]
        text = (choices[0].get("delta") or {}).get("content") or ""
        finish = choices[0].get("finish_reason")
        usage = _read_usage(payload.get("usage"))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise ModelError("sent what is no chat completion") from None
    if not isinstance(text, str):
        raise ModelError("sent what is no chat completion")
    # JSON may hold lone surrogates, which no answer in UTF-8 can.
    text = text.encode(errors="replace").decode()
    return ModelChunk(
        text, None if not finish else "length" if finish == "length" else "stop", usage
    )


def _read_usage(usage: Any) -> Usage | None:
    if not usage:
        return None
    counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not all(type(count) is int and 0 <= count <= MAX_COUNT for count in counts):
        return None
    return Usage(*counts)


def refused_parameters(status: int, error: str, payload: Mapping[str, object]) -> frozenset[str]:
    """The optional parameters of a request that its refusal names as ones it does not know."""
    error = error.lower()
    if status not in (400, 422) or not any(refusal in error for refusal in _REFUSALS):
        return frozenset()
    return frozenset(name for name in OPTIONAL_PARAMETERS if name in payload and name in error)
