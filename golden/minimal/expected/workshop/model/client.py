"""The language model: any endpoint that answers like OpenAI's chat completions, streamed.

Redirects are not followed, since the key would go with them.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .prompt import Message
from .settings import ModelSettings

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 5.0
RETRY_SECONDS = 0.5
MAX_RETRY_SECONDS = 2.0
"""A service that asks for a longer pause than this is not asked again."""

MAX_ERROR_BYTES = 16_384
MAX_EVENT_BYTES = 65_536
BYTES_PER_TOKEN = 1_024
"""Generous: an event for one token takes some 200 to 400 bytes."""

CHARACTERS_PER_TOKEN = 8
MAX_TOKEN_COUNT = 1_000_000_000

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_REFUSAL = re.compile(
    "unsupported|not support|unknown|unrecogni[sz]ed|not permitted|not allowed|unexpected|"
    "extra_forbidden"
)
_OPTIONAL = ("max_tokens", "response_format", "stream_options", "temperature", "top_p")
"""Parameters that some endpoints refuse, and that can be left out or go by another name."""

FinishReason = Literal["stop", "length"]

_logger = logging.getLogger(__name__)


class ModelError(Exception):
    """The language model gives no answer; the message says why, as in "it took too long"."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that calls took, by the names of OpenAI."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.total_tokens + other.total_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """A piece of a reply; the reason why it ended and the usage come with the last."""

    text: str = ""
    finish_reason: FinishReason | None = None
    usage: Usage | None = None


class LanguageModel:
    """Asks one model of one endpoint. Safe to share between the tasks of one event loop."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self._refused: frozenset[str] = frozenset()

    @cached_property
    def _client(self) -> "httpx2.AsyncClient":
        # Imported with the first question, so that a server without a model never pays for it.
        import httpx2

        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if self.settings.api_key is not None:
            headers["Authorization"] = f"Bearer {self.settings.api_key}"
        return httpx2.AsyncClient(
            headers=headers,
            # Reading has deadlines of its own, which a trickle of bytes does not move.
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_keepalive_connections=self.settings.concurrency),
            follow_redirects=False,
        )

    def open(self) -> None:
        """Make the client ready, which takes a tenth of a second; else the first question does."""
        _ = self._client

    async def aclose(self) -> None:
        """Close the connections that are kept for later questions."""
        if "_client" in self.__dict__:
            await self._client.aclose()

    async def complete(
        self, messages: Sequence[Message], max_tokens: int, **options: object
    ) -> ModelChunk:
        """Return what `stream` yields as one chunk. Raises ModelError."""
        text = ""
        async with aclosing(self.stream(messages, max_tokens, **options)) as chunks:
            async for chunk in chunks:
                text += chunk.text
        return replace(chunk, text=text)

    async def stream(
        self, messages: Sequence[Message], max_tokens: int, **options: object
    ) -> AsyncGenerator[ModelChunk, None]:
        """Yield the reply as it comes; the last chunk says why it ended, and what it took if known.

        `options` are parameters such as `temperature`; None leaves one out. A reply beyond its
        limits is cut, and ends with the reason `length`. Raises ModelError: before the first text
        if there is no answer to be had, later if it breaks off. Closing the generator closes the
        connection.
        """
        import httpx2

        clock = asyncio.get_running_loop().time
        end = clock() + self.settings.total_seconds
        limit = min(clock() + self.settings.first_token_seconds, end)
        parameters = {
            "model": self.settings.model,
            "messages": list(messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": max_tokens,
            **{name: value for name, value in options.items() if value is not None},
        }
        max_bytes = MAX_EVENT_BYTES + BYTES_PER_TOKEN * max_tokens
        max_characters = CHARACTERS_PER_TOKEN * max_tokens
        characters = 0
        finish_reason: FinishReason | None = None
        usage = None
        async with aclosing(await self._send(parameters, limit)) as response:
            events = aiter(httpx2.EventSource(response, MAX_EVENT_BYTES))
            while True:
                try:
                    async with asyncio.timeout_at(limit):
                        event = await anext(events, None)
                except TimeoutError:
                    raise ModelError("took too long") from None
                except httpx2.HTTPError as error:
                    raise ModelError(f"broke off ({type(error).__name__})") from None
                if event is None:
                    break
                if event.data.strip() == "[DONE]":
                    # Some endpoints give no other sign of the end.
                    finish_reason = finish_reason or "stop"
                    break
                chunk = _read_event(event.data)
                finish_reason = chunk.finish_reason or finish_reason
                usage = chunk.usage or usage
                characters += len(chunk.text)
                if chunk.text:
                    yield ModelChunk(chunk.text)
                if characters > max_characters or response.num_bytes_downloaded > max_bytes:
                    finish_reason = "length"
                    break
                if characters:
                    limit = min(clock() + self.settings.pause_seconds, end)
        if not characters:
            raise ModelError("gave an empty answer")
        if finish_reason is None:
            raise ModelError("broke off")
        yield ModelChunk("", finish_reason, usage)

    async def _send(self, parameters: Mapping[str, object], limit: float) -> "httpx2.Response":
        """Return a reply that has begun with 200, by the loop's time `limit`, after two attempts.

        The second leaves out the parameters that the endpoint refused. Raises ModelError.
        """
        import httpx2

        refused = self._refused
        for is_last in (False, True):
            payload = {name: parameters[name] for name in parameters if name not in refused}
            if "max_tokens" in refused:
                payload["max_completion_tokens"] = parameters["max_tokens"]
            request = self._client.build_request(
                "POST", f"{self.settings.base_url}/chat/completions", json=payload
            )
            try:
                async with asyncio.timeout_at(limit):
                    response = await self._client.send(request, stream=True)
                    if response.status_code == 200:
                        break
                    error_text = await _read_error(response)
            except TimeoutError:
                raise ModelError("took too long") from None
            except httpx2.HTTPError as error:
                if is_last:
                    raise ModelError(f"cannot be reached ({type(error).__name__})") from None
                await asyncio.sleep(RETRY_SECONDS)
                continue
            status = response.status_code
            _logger.warning("the language model answered %d", status)
            pause = _retry_pause(response.headers.get("retry-after"))
            newly_refused = _refused_parameters(status, error_text, payload)
            if is_last or not (newly_refused or (status in _RETRIED and pause is not None)):
                raise ModelError(f"answered {status}")
            refused |= newly_refused
            await asyncio.sleep(pause or 0)
        self._refused = refused
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise ModelError("answered in an encoding that it was not offered")
        return response


async def _read_error(response: "httpx2.Response") -> str:
    body = b""
    async with aclosing(response):
        async for piece in response.aiter_raw():
            body += piece
            if len(body) >= MAX_ERROR_BYTES:
                break
    return body[:MAX_ERROR_BYTES].decode(errors="replace")


def _retry_pause(retry_after: str | None) -> float | None:
    """Return the seconds to wait before another attempt; None if too many, or never said."""
    if retry_after is None:
        return RETRY_SECONDS
    is_short = retry_after.isdecimal() and float(retry_after) <= MAX_RETRY_SECONDS
    return float(retry_after) if is_short else None


def _refused_parameters(status: int, error: str, payload: Mapping[str, object]) -> frozenset[str]:
    """Return the optional parameters of a request that its refusal says it does not know."""
    error = error.lower()
    if status not in (400, 422) or not _REFUSAL.search(error):
        return frozenset()
    return frozenset(name for name in _OPTIONAL if name in payload and name in error)


def _read_event(data: str) -> ModelChunk:
    """Read one event of a streamed chat completion. Raises ModelError for anything else."""
    try:
        payload = json.loads(data)
        if payload.get("error"):
            raise ModelError("reported an error")
        choice = (payload.get("choices") or [{}])[0]
        text = (choice.get("delta") or {}).get("content") or ""
        finish = choice.get("finish_reason")
        # JSON may hold lone surrogates, which no answer in UTF-8 can.
        text = text.encode(errors="replace").decode()
        usage = _read_usage(payload.get("usage") or {})
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise ModelError("sent what is no chat completion") from None
    reason: FinishReason = "length" if finish == "length" else "stop"
    return ModelChunk(text, reason if finish else None, usage)


def _read_usage(usage: Mapping[str, Any]) -> Usage | None:
    counts: list[Any] = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
    if not all(type(count) is int and 0 <= count <= MAX_TOKEN_COUNT for count in counts):
        return None
    return Usage(counts[0], counts[1], sum(counts))
