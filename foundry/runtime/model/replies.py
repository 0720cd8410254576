"""Replies of a language model: their chunks, the answer without reasoning, and errors."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


class ModelError(Exception):
    """The language model gave no complete answer; the message says what it did: "took too long"."""


class BudgetSpentError(ModelError):
    """The day's calls are used up."""


class ModelTimeoutError(ModelError):
    """The model did not respond in time: no connection, no first token or no next token."""


class EmptyReplyError(ModelError):
    """The model replied without an answer."""


FinishReason = Literal["stop", "length", "filter", "error"]


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A chunk of a reply; the last has the finish reason and, if known, the tokens used."""

    text: str = ""
    finish_reason: FinishReason | None = None
    usage: dict[str, int] | None = None
    is_reasoning: bool = False


# Marks around a model's reasoning, for endpoints that do not separate the reasoning from the
# answer.
_TAG = "think|thinking|thought|thoughts|reasoning|reason|reflection|analysis|scratchpad|seed:think"
_OPENED = re.compile(
    rf"<(?:{_TAG})>|\[THINK\]|\u25c1think\u25b7|<\|(?:START_THINKING|begin_of_thought)\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?!final)\w+|<\|channel>thought|analysis(?=[A-Z])"
)
_CLOSED = re.compile(
    rf"(?<!`)</(?:{_TAG})>(?!`)|\[/THINK\]|\u25c1/think\u25b7"
    r"|<\|(?:END_THINKING|end_of_thought)\|>\s*(?:<\|(?:START_RESPONSE|begin_of_solution)\|>)?"
    r"|(?:<\|start\|>assistant)?<\|channel\|>final[^<]{0,40}<\|message\|>|<channel\|>"
    r"|assistantfinal(?=[A-Z])"
)
# The beginning of an opening mark, if the rest is still to come.
_MAY_OPEN = re.compile(r"[<\[\u25c1][\w|:>\[]{0,40}\Z|a(?:n(?:a(?:l(?:y(?:s(?:is?)?)?)?)?)?)?\Z")
_MAY_CLOSE = re.compile(r"(?:[<\[\u25c1][^\s\]\u25b7]{0,80}|assistant\w{0,5})\Z")
_TOKEN = re.compile(r"<\|[A-Za-z_]{1,30}\|>")
_MAY_BE_TOKEN = re.compile(r"<(?:\|[A-Za-z_]{0,30}\|?)?\Z")
# Some endpoints send only the closing mark. Then the text before it is recognised as reasoning by
# its wording. An answer, in contrast, soon cites a passage.
_THOUGHT = re.compile(
    r"\b(?:let me|let['\u2019]s|let us|i(?:['\u2019](?:ll|m)| will| need| should| think| have to"
    r"| must| am| recall| remember| want| wonder| look| see)|we (?:need|should|have to|must|are"
    r"|can|know|could)|the (?:user|person) (?:asks?|asked|wants?|is|says?|said|needs)"
    r"|the question|okay|ok so|hm+|alright|maybe|perhaps|my (?:answer|response|task))\b"
    r"|(?:\A|[.!?\n] ?)(?:(?:wait|so|actually)[,:]? (?:the|it)|(?:wait|so|actually|now|first|right)"
    r"[,:]? (?:let|i|we|what|which))\b|\bwait[,:]|\A(?:thinking|reasoning)\b",
    re.IGNORECASE,
)
_CITES = re.compile(r"[\[\u3010]\^?\d{1,3}")
MAX_DOUBTFUL = 600  # After this many characters without a citation, the text counts as an answer.


class AnswerFilter:
    """Passes on a streamed reply without the reasoning that it may begin with.

    `is_closing` is set for models that have closed their reasoning without opening it.
    """

    def __init__(self, *, is_closing: bool = False) -> None:
        self.is_closing = is_closing
        self._held = ""
        self._part: Literal["beginning", "reasoning", "doubt", "answer"] = "beginning"
        self._has_tokens = self._has_closed = False

    @property
    def is_reasoning(self) -> bool:
        """Whether the latest text seems to be reasoning."""
        is_thought = self._part == "doubt" and _THOUGHT.search(self._held) is not None
        return self._part == "reasoning" or is_thought

    def feed(self, text: str) -> str:
        """Take the next chunk; return the part that belongs to the answer."""
        text, self._held = self._held + text, ""
        if self._part == "beginning":
            text = text.lstrip()
            opened = _OPENED.match(text)
            if not text or (opened is None and _MAY_OPEN.match(text)):
                self._held = text
                return ""
            self._has_tokens |= text.startswith("<|")
            self._part = "reasoning" if opened else "answer" if self._has_closed else "doubt"
        if self._part in ("reasoning", "doubt"):
            closed = _CLOSED.search(text)
            if closed and (text[closed.end() :].strip() or closed.start() > 0):
                # More reasoning may follow.
                self.is_closing |= self._part == "doubt" and not self._has_tokens
                self._part, self._has_closed = "beginning", True
                return self.feed(text[closed.end() :])
            if self._part == "reasoning":
                # The mark may be split between chunks.
                cut = _MAY_CLOSE.search(text, max(0, len(text) - 120))
                self._held = text[cut.start() :] if cut else ""
                return ""
            if not self._is_answer(text):
                self._held = text
                return ""
            self._part = "answer"
        if not self._has_tokens:
            return text
        cut = _MAY_BE_TOKEN.search(text)
        self._held = text[cut.start() :] if cut else ""
        return _TOKEN.sub("", text[: cut.start()] if cut else text)

    def _is_answer(self, text: str) -> bool:
        """Return whether a reply without an opening mark is an answer."""
        if self.is_closing or _THOUGHT.search(text):
            return False
        return _CITES.search(text) is not None or len(text) > MAX_DOUBTFUL

    def finish(self, *, is_cut: bool = False) -> str:
        """Return the text held back until the reply ended or was cut; "" if it is reasoning."""
        is_lost = self._part == "reasoning" or (is_cut and self.is_reasoning)
        return "" if is_lost else _TOKEN.sub("", self._held) if self._has_tokens else self._held


_COUNTS = ("prompt_tokens", "completion_tokens")
_ERROR_KEYS = ("error", "errors", "detail", "message", "error_message", "error_type")
_WHOLE = re.compile(
    r"(?:|null|none|stop(?:ped)?|stop_sequences?|eos|eos_token|end|end_turn|complete[d]?|done"
    r"|finish(?:ed)?|finish_reason_stop|tool_calls?|tool_use|function_call|load|unload)"
)
_CUT = re.compile("length|max|limit|budget|truncat|window")
_FAILED = re.compile(
    "err|abort|cancel|fail|time_?out|insufficient|malformed|interrupt|unavailable|crash|overload"
)


def read_event(data: str, name: str = "") -> ModelChunk:
    """Parse one event of a streamed chat completion. Raises ModelError for anything else."""
    if name == "error":
        raise ModelError("reported an error")
    try:
        payload = json.loads(data)
        if _tells_error(payload):
            raise ModelError("reported an error")
        choice = (payload.get("choices") or [{}])[0] or {}
        if choice.get("error"):
            raise ModelError("reported an error")
        delta = choice.get("delta") or choice.get("message") or {}
        text, has_thoughts = _read_content(delta.get("content"))
        text = text or delta.get("refusal") or choice.get("text") or ""
        # JSON can contain lone surrogates, which UTF-8 cannot encode.
        text = text.encode(errors="replace").decode()
        reason = _read_reason(choice.get("finish_reason"))
        used = payload.get("usage") or {}
        usage = {name: used[name] for name in _COUNTS if type(used.get(name)) is int}
        has_thoughts |= any(re.search("reason|think|thought", key) for key in delta if delta[key])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise ModelError("did not send a chat completion") from None
    counted = {**usage, "total_tokens": sum(usage.values())} if len(usage) == 2 else None
    return ModelChunk(text, reason, counted, has_thoughts)


def _tells_error(payload: Mapping[str, Any]) -> bool:
    if payload.get("error") or "error" in (payload.get("object"), payload.get("type")):
        return True
    codes = (payload.get("code"), payload.get("status"), payload.get("status_code"))
    is_refusal = any(isinstance(code, int) and code >= 400 for code in codes)
    is_other = "choices" not in payload and any(map(payload.get, _ERROR_KEYS))
    return is_refusal or is_other


def _read_content(content: object) -> tuple[str, bool]:
    """Return the text of a string or a list of parts, and whether any part is reasoning."""
    if not isinstance(content, list):
        return (content, False) if isinstance(content, str) else ("", False)
    text, has_thoughts = "", False
    for part in content:
        kind = part.get("type", "text") if isinstance(part, dict) else "text"
        said = part if isinstance(part, str) else part.get("text") or part.get("refusal")
        if kind in ("text", "output_text", "refusal"):
            text += said if isinstance(said, str) else ""
        else:
            has_thoughts = True
    return text, has_thoughts


def _read_reason(written: object) -> FinishReason | None:
    """Return why a reply ended; None if it has not. An unknown reason counts as `filter`."""
    if written is None:
        return None
    reason = str(written).rpartition(".")[2].strip().lower().replace("-", "_").replace(" ", "_")
    if _WHOLE.fullmatch(reason):
        return "stop"
    if _FAILED.search(reason):
        return "error"
    return "length" if _CUT.search(reason) else "filter"
