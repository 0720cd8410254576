"""Streams chat completions from an OpenAI-compatible model, configured by LLM_* variables."""

import asyncio
import logging
import os
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import ConfigurationError
from ..settings import ADDRESS, API_KEY
from .events import read_events
from .replies import (
    AnswerFilter,
    BudgetSpentError,
    EmptyReplyError,
    ModelChunk,
    ModelError,
    ModelTimeoutError,
    read_event,
)

if TYPE_CHECKING:
    import httpx2

MAX_ERROR_BYTES = 16_384
MAX_EVENT_BYTES = 65_536
BYTES_PER_TOKEN = 1_024  # Generous: the event of one token takes 200 to 400 bytes.

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_REFUSAL = re.compile(
    "unsupported|not support|unknown|unrecogni[sz]ed|not permitted|not allowed|unexpected|forbidden"
)
# Parameters that some endpoints reject; they can be omitted or renamed.
_OPTIONAL = ("max_tokens", "response_format", "stream_options", "temperature", "top_p")

_HINT = "set LLM_BASE_URL (https://api.example.com/v1), LLM_MODEL and usually LLM_API_KEY, or none"
_PROBLEMS = {
    "missing": "is not set, but other LLM_* variables are",
    "string_pattern_mismatch": "is unusable",
}

_logger = logging.getLogger(__name__)
_calls: Counter[int] = Counter()
_counting = threading.Lock()

Message = dict[str, str]
Count = Annotated[int, Field(gt=0, lt=1_000_000_000)]
Seconds = Annotated[float, Field(gt=0, lt=1_000_000_000)]


class ModelSettings(BaseModel):
    """An OpenAI-compatible endpoint and limits on its use, from the variables LLM_*."""

    model_config = ConfigDict(frozen=True)

    base_url: Annotated[str, Field(pattern=f"^(?:{ADDRESS.pattern})$")]
    model: str
    api_key: Annotated[str | None, Field(pattern=f"^(?:{API_KEY.pattern})$", repr=False)] = None
    max_tokens: Count = 1024
    first_token_seconds: Seconds = 30.0
    pause_seconds: Seconds = 15.0
    total_seconds: Seconds = 120.0
    concurrency: Count = 8
    daily_calls: Count | None = None

    @classmethod
    def from_environment(cls) -> "ModelSettings | None":
        """Read the variables. Raises ConfigurationError.

        Returns None if address, model and key are all unset.
        """
        variables = {name: os.environ.get(f"LLM_{name.upper()}", "") for name in cls.model_fields}
        values = {name: value.strip() for name, value in variables.items() if value.strip()}
        if values.keys().isdisjoint({"base_url", "model", "api_key"}):
            return None
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            # Messages do not quote values, because one of them may be the key.
            problems = [
                f"LLM_{str(one['loc'][0]).upper()} {_PROBLEMS.get(one['type'], one['msg'].lower())}"
                for one in error.errors(include_input=False)
            ]
            raise ConfigurationError("; ".join(problems), hint=_HINT) from None


def take_call(daily_calls: int | None) -> bool:
    """Count a call of this process; return False if the day's quota (UTC) is used up."""
    with _counting:
        # Setting the clock back does not begin a new day.
        day = max(int(time.time() // 86_400), *_calls, 0)
        _calls[day] += 1
        return daily_calls is None or _calls[day] <= daily_calls


def draw_fence() -> str:
    """Return a random prefix for the lines around a quotation, so that it cannot imitate them."""
    return f"#{secrets.token_hex(8)}"


class LanguageModel:
    """A client of one model; tasks of one event loop can share it."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self._refused: frozenset[str] = frozenset()
        self._is_closing = False  # See `AnswerFilter`
        self._places = asyncio.Semaphore(settings.concurrency)

    @classmethod
    def from_environment(cls) -> "LanguageModel | None":
        """Return the model that the environment configures, if any. Raises ConfigurationError."""
        settings = ModelSettings.from_environment()
        return None if settings is None else cls(settings)

    @cached_property
    def client(self) -> "httpx2.AsyncClient":
        """The HTTP client; importing its library on first use takes a tenth of a second."""
        import httpx2

        key = self.settings.api_key
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        return httpx2.AsyncClient(
            headers={**headers, "Authorization": f"Bearer {key}"} if key else headers,
            # Reads have separate deadlines, which a slow trickle of bytes does not extend.
            timeout=httpx2.Timeout(None, connect=5),
            limits=httpx2.Limits(max_connections=self.settings.concurrency),
        )

    async def complete(
        self, messages: list[Message], max_tokens: int, seconds: float, **options: object
    ) -> ModelChunk:
        """Return the complete reply, within `seconds`. Raises ModelError."""
        chunks = self.stream(messages, max_tokens, **options)
        async with _in_time(asyncio.get_running_loop().time() + seconds), aclosing(chunks):
            pieces = [chunk async for chunk in chunks]
        return replace(pieces[-1], text="".join(piece.text for piece in pieces))

    async def stream(
        self, messages: list[Message], max_tokens: int, **options: object
    ) -> AsyncGenerator[ModelChunk, None]:
        """Yield the reply as it arrives, cut if it is too long. Raises ModelError, possibly midway.

        Calls beyond LLM_CONCURRENCY wait for another to end.
        """
        if not take_call(self.settings.daily_calls):
            raise BudgetSpentError("has used up today's calls")
        clock = asyncio.get_running_loop().time
        end = clock() + self.settings.total_seconds
        limit = min(clock() + self.settings.first_token_seconds, end)
        parameters = {
            "model": self.settings.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": max_tokens,
            **{name: value for name, value in options.items() if value is not None},
        }
        async with self._place(limit), aclosing(self._read(parameters, limit, end)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _read(
        self, parameters: Mapping[str, Any], limit: float, end: float
    ) -> AsyncGenerator[ModelChunk, None]:
        """Yield a reply, which must begin before `limit` and end before `end` (loop times)."""
        clock = asyncio.get_running_loop().time
        left = MAX_EVENT_BYTES + BYTES_PER_TOKEN * parameters["max_tokens"]
        has_begun, has_answered, has_reasoned = False, False, False
        finish_reason, usage = None, None
        answer = AnswerFilter(is_closing=self._is_closing)
        try:
            async with (
                aclosing(await self._send(parameters, limit)) as response,
                aclosing(read_events(response, MAX_EVENT_BYTES)) as events,
            ):
                while finish_reason != "error":
                    try:
                        async with _in_time(limit):
                            event = await anext(events, None)
                    except ModelTimeoutError as error:
                        # The model was still sending when the total time was over.
                        is_slow = has_begun and limit == end
                        raise ModelError(str(error)) if is_slow else error from None
                    if event is None or event.data.strip() == "[DONE]":
                        break
                    chunk = read_event(event.data, event.name)
                    finish_reason = chunk.finish_reason or finish_reason
                    usage = chunk.usage or usage
                    has_begun = has_begun or bool(chunk.text) or chunk.is_reasoning
                    if text := answer.feed(chunk.text):
                        has_answered = True
                        yield ModelChunk(text)
                    elif not has_reasoned and (chunk.is_reasoning or answer.is_reasoning):
                        has_reasoned = True
                        yield ModelChunk(is_reasoning=True)
                    left -= len(event.data)
                    if left < 0:
                        finish_reason = "length"
                        break
                    if has_begun:
                        limit = min(clock() + self.settings.pause_seconds, end)
            if finish_reason == "error":
                raise ModelError("reported an error")
            if event is None and finish_reason is None and has_begun:
                raise ModelError("broke off")
        except ModelError:
            if rest := answer.finish(is_cut=True):
                yield ModelChunk(rest)
            raise
        finally:
            self._is_closing |= answer.is_closing
        rest = answer.finish(is_cut=finish_reason not in (None, "stop"))
        if not (has_answered or rest.strip()):
            is_cut = has_begun and finish_reason == "length"
            said = "used up its tokens before answering" if is_cut else "returned an empty answer"
            raise EmptyReplyError(said)
        yield ModelChunk(rest, finish_reason or "stop", usage)

    @asynccontextmanager
    async def _place(self, limit: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout_at(limit):
                await self._places.acquire()
        except TimeoutError:
            raise ModelError("is at its limit of concurrent calls") from None
        try:
            yield
        finally:
            self._places.release()

    async def _send(
        self, parameters: Mapping[str, object], limit: float, *, may_retry: bool = True
    ) -> "httpx2.Response":
        """Return a reply that has begun, after one retry if needed. Raises ModelError."""
        url = f"{self.settings.base_url.rstrip('/')}/chat/completions"
        refused, is_passing = self._refused, True
        payload = {name: parameters[name] for name in parameters if name not in refused}
        if "max_tokens" in refused:
            payload["max_completion_tokens"] = parameters["max_tokens"]
        request = self.client.build_request("POST", url, json=payload)
        try:
            async with _in_time(limit):
                response = await self.client.send(request, stream=True)
                if (status := response.status_code) == 200:
                    return response
                async with aclosing(response):
                    body = await anext(response.aiter_raw(MAX_ERROR_BYTES), b"")
            said = body.decode(errors="replace").lower()
            if status in (400, 422) and _REFUSAL.search(said):
                self._refused |= {name for name in _OPTIONAL if name in payload and name in said}
            # Do not retry before the time that the service requests.
            is_passing = status in _RETRIED and "retry-after" not in response.headers
            raise ModelError(f"answered {status}")
        except ModelError as error:
            is_retried = may_retry and (is_passing or self._refused > refused)
            if not is_retried or asyncio.get_running_loop().time() >= limit:
                raise
            _logger.warning("the language model %s", error)
        await asyncio.sleep(0.5)
        return await self._send(parameters, limit, may_retry=False)


@asynccontextmanager
async def _in_time(limit: float) -> AsyncIterator[None]:
    """Raise ModelError for an HTTP error, or when the loop's time reaches `limit`."""
    import httpx2

    try:
        async with asyncio.timeout_at(limit):
            yield
    except (TimeoutError, httpx2.TimeoutException):
        raise ModelTimeoutError("took too long") from None
    except httpx2.ConnectError:
        raise ModelError("cannot be reached") from None
    except httpx2.HTTPError as error:
        raise ModelError(f"broke off ({type(error).__name__})") from None
