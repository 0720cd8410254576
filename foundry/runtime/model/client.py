"""The language model: any endpoint that answers like OpenAI's chat completions, streamed.

Redirects are not followed, since the key would go with them.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .prompt import Message
from .replies import ModelChunk, ModelError, read_event, refused_parameters
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

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an answer is drawn, and its form; None leaves it to the model."""

    max_tokens: int
    temperature: float | None = None
    top_p: float | None = None
    response_format: Mapping[str, Any] | None = None


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

    async def complete(self, messages: Sequence[Message], sampling: Sampling) -> ModelChunk:
        """The whole reply as one chunk. Raises ModelError."""
        text = ""
        last = ModelChunk()
        async with aclosing(self.stream(messages, sampling)) as chunks:
            async for chunk in chunks:
                text += chunk.text
                last = chunk
        return ModelChunk(text, last.finish_reason, last.usage)

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncGenerator[ModelChunk, None]:
        """The reply as it comes; the last chunk says why it ended, and what it took if known.

        A reply beyond its limits is cut, and ends with the reason `length`. Raises ModelError:
        before the first text if there is no answer to be had, later if it breaks off. Closing the
        generator closes the connection.
        """
        import httpx2

        clock = asyncio.get_running_loop().time
        end = clock() + self.settings.total_seconds
        limit = clock() + self.settings.first_token_seconds
        max_bytes = MAX_EVENT_BYTES + BYTES_PER_TOKEN * sampling.max_tokens
        characters = 0
        last = ModelChunk()
        async with self._open(messages, sampling, min(limit, end)) as response:
            events = aiter(httpx2.EventSource(response, MAX_EVENT_BYTES))
            while True:
                try:
                    async with asyncio.timeout_at(min(limit, end)):
                        event = await anext(events)
                except StopAsyncIteration:
                    break
                except TimeoutError:
                    raise ModelError("took too long") from None
                except httpx2.HTTPError as error:
                    raise ModelError(f"broke off ({type(error).__name__})") from None
                if event.data.strip() == "[DONE]":
                    # Some endpoints give no other sign of the end.
                    last = ModelChunk("", last.finish_reason or "stop", last.usage)
                    break
                chunk = read_event(event.data)
                characters += len(chunk.text)
                too_long = (
                    characters > 8 * sampling.max_tokens
                    or response.num_bytes_downloaded > max_bytes
                )
                last = ModelChunk(
                    "",
                    "length" if too_long else chunk.finish_reason or last.finish_reason,
                    chunk.usage or last.usage,
                )
                if chunk.text:
                    yield ModelChunk(chunk.text)
                if too_long:
                    break
                if characters:
                    limit = clock() + self.settings.pause_seconds
        if not characters:
            raise ModelError("gave an empty answer")
        if last.finish_reason is None:
            raise ModelError("broke off")
        yield last

    @asynccontextmanager
    async def _open(
        self, messages: Sequence[Message], sampling: Sampling, limit: float
    ) -> AsyncIterator["httpx2.Response"]:
        """A reply that has begun with 200, by the loop's time `limit`, in two attempts at most."""
        import httpx2

        refused = self._refused
        for is_last in (False, True):
            payload = self._payload(messages, sampling, refused)
            request = self._client.build_request(
                "POST", f"{self.settings.base_url}/chat/completions", json=payload
            )
            response = None
            try:
                async with asyncio.timeout_at(limit):
                    response = await self._client.send(request, stream=True)
                    if response.status_code != 200:
                        error_text = await _read_error(response)
                if response.status_code == 200:
                    self._refused = refused
                    if response.headers.get("content-encoding", "identity") != "identity":
                        raise ModelError("answered in an encoding that it was not offered")
                    yield response
                    return
            except TimeoutError:
                raise ModelError("took too long") from None
            except httpx2.HTTPError as error:
                if is_last or response is not None:
                    raise ModelError(f"cannot be reached ({type(error).__name__})") from None
                await asyncio.sleep(RETRY_SECONDS)
                continue
            finally:
                if response is not None:
                    await response.aclose()
            _logger.warning("the language model answered %d", response.status_code)
            refused = refused | refused_parameters(response.status_code, error_text, payload)
            pause = _retry_pause(response.headers.get("retry-after"))
            is_retried = response.status_code in _RETRIED and pause is not None
            if is_last or not (is_retried or refused != self._refused):
                raise ModelError(f"answered {response.status_code}")
            await asyncio.sleep(pause or 0)

    def _payload(
        self, messages: Sequence[Message], sampling: Sampling, refused: frozenset[str]
    ) -> dict[str, Any]:
        limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
        payload = {
            "model": self.settings.model,
            "messages": list(messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "response_format": sampling.response_format,
        }
        return {
            name: value
            for name, value in payload.items()
            if value is not None and name not in refused
        }


async def _read_error(response: "httpx2.Response") -> str:
    body = b""
    async for piece in response.aiter_raw():
        body += piece
        if len(body) >= MAX_ERROR_BYTES:
            break
    return body[:MAX_ERROR_BYTES].decode(errors="replace")


def _retry_pause(retry_after: str | None) -> float | None:
    """Seconds to wait before another attempt; None if it would be too long, or never says."""
    if retry_after is None:
        return RETRY_SECONDS
    is_short = retry_after.isdecimal() and float(retry_after) <= MAX_RETRY_SECONDS
    return float(retry_after) if is_short else None
