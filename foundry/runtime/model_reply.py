"""What a language model replies: its pieces, what of them is the answer, and how it may fail."""

import json
from dataclasses import dataclass
from typing import Literal

# Around what a model reasons before it answers, where its endpoint does not tell the two apart.
_REASONING, _END_OF_REASONING = "<think>", "</think>"


class ModelError(Exception):
    """The language model gives no answer; the message says why, as in "it took too long"."""


class BudgetSpentError(ModelError):
    """The calls of the day are used up."""


class ModelTimeoutError(ModelError):
    """The model was asked, and said nothing in time: no connection, first word or next word."""


class EmptyReplyError(ModelError):
    """The model replied without an answer."""


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A piece of a reply; the last says why it ended, and the tokens it took if known."""

    text: str = ""
    finish_reason: str | None = None
    usage: dict[str, int] | None = None


class AnswerFilter:
    """Passes a streamed reply on without the reasoning that it may begin with."""

    def __init__(self) -> None:
        self._held = ""
        self._part: Literal["beginning", "reasoning", "answer"] = "beginning"

    def feed(self, text: str) -> str:
        """Take the next piece; return what of it belongs to the answer."""
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
                # Its end may be cut by the next piece.
                self._held = text[1 - len(_END_OF_REASONING) :]
                return ""
            self._part, text = "answer", after.lstrip()
        return text

    def finish(self) -> str:
        """Return the text that was held back until the end of the reply."""
        return self._held if self._part == "beginning" else ""


def read_event(data: str) -> ModelChunk:
    """Read one event of a streamed chat completion. Raises ModelError for anything else."""
    try:
        payload = json.loads(data)
        if payload.get("error"):
            raise ModelError("reported an error")
        choice = (payload.get("choices") or [{}])[0]
        # JSON may hold lone surrogates, which no answer in UTF-8 can.
        text = ((choice.get("delta") or {}).get("content") or "").encode(errors="replace").decode()
        reason = choice.get("finish_reason")
        used = payload.get("usage") or {}
        counts = ("prompt_tokens", "completion_tokens")
        usage = {name: used[name] for name in counts if type(used.get(name)) is int}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise ModelError("did not send a chat completion") from None
    counted = {**usage, "total_tokens": sum(usage.values())} if len(usage) == 2 else None
    return ModelChunk(text, "length" if reason == "length" else reason and "stop", counted)
