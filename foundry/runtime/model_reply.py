"""The reply of a language model: its chunks, the answer in them, and errors."""

import json
from dataclasses import dataclass
from typing import Literal

# Tags around the reasoning of a model, for endpoints that do not separate it.
_REASONING, _END_OF_REASONING = "<think>", "</think>"


class ModelError(Exception):
    """The model gave no answer; the message says why, as in "it took too long"."""


class BudgetSpentError(ModelError):
    """The daily limit of calls is reached."""


class ModelTimeoutError(ModelError):
    """The model timed out: on connecting, before the first token, or between two."""


class EmptyReplyError(ModelError):
    """The reply has no answer."""


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A chunk of a reply; the last one has the reason for its end, and token counts if known."""

    text: str = ""
    finish_reason: str | None = None
    usage: dict[str, int] | None = None


class AnswerFilter:
    """Removes the reasoning at the beginning of a streamed reply."""

    def __init__(self) -> None:
        self._held = ""
        self._part: Literal["beginning", "reasoning", "answer"] = "beginning"

    def feed(self, text: str) -> str:
        """Take the next chunk; return the part of it that belongs to the answer."""
        text, self._held = self._held + text, ""
        if self._part == "beginning":
            text = text.lstrip()
            if len(text) < len(_REASONING) and _REASONING.startswith(text):
                self._held = text
                return ""
            self._part = "reasoning" if text.startswith(_REASONING) else "answer"
        if self._part == "reasoning":
            _, end, after = text.partition(_END_OF_REASONING)
            if not end:
                # The end tag may be split between chunks.
                self._held = text[1 - len(_END_OF_REASONING) :]
                return ""
            self._part, text = "answer", after.lstrip()
        return text

    def finish(self) -> str:
        """Return the text held back until the end of the reply."""
        return self._held if self._part == "beginning" else ""


def read_event(data: str) -> ModelChunk:
    """Parse one event of a streamed chat completion. Raises ModelError for anything else."""
    try:
        payload = json.loads(data)
        if payload.get("error"):
            raise ModelError("reported an error")
        choice = (payload.get("choices") or [{}])[0]
        # JSON may contain lone surrogates, which cannot be encoded in UTF-8.
        text = ((choice.get("delta") or {}).get("content") or "").encode(errors="replace").decode()
        reason = choice.get("finish_reason")
        used = payload.get("usage") or {}
        counts = ("prompt_tokens", "completion_tokens")
        usage = {name: used[name] for name in counts if type(used.get(name)) is int}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise ModelError("did not send a chat completion") from None
    counted = {**usage, "total_tokens": sum(usage.values())} if len(usage) == 2 else None
    return ModelChunk(text, "length" if reason == "length" else reason and "stop", counted)
