"""Calls an embedding service over HTTP, with limits on time and size."""

import json
import logging
import ssl
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from ...settings import API_KEY
from .replies import EmbeddingFailure, bad_reply, name_dimensions

MAX_REPLY_BYTES = 256 * 1024 * 1024
"""More than the largest valid reply: 2,048 texts with 4,096 numbers each."""

MAX_ERROR_BYTES = 65_536
SHOWN_CHARACTERS = 200
TEMPORARY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
TEXTS_REFUSED = frozenset({400, 413, 422})
QUOTA = (b"insufficient_quota", b"billing_hard_limit_reached")
"""OpenAI's error codes for which retrying does not help."""

CONNECT_SECONDS = 10.0


# httpx logs every call at INFO; the server's own log already has every request.
logging.getLogger("httpx2").setLevel(logging.WARNING)


class EmbeddingService:
    """Posts JSON to an embedding service; threads can share one.

    Args:
        base_url: Address of the service, such as `https://api.openai.com/v1`.
        model: Its name in the service.
        api_key: Sent as a bearer token; None if the service needs none.
        dimensions: Number to request; None for the model's default.
    """

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None, dimensions: int | None
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.dimensions = dimensions
        self._api_key = api_key
        headers = {"accept": "application/json"}
        if api_key:
            if not API_KEY.fullmatch(api_key):
                raise EmbeddingFailure(
                    "the API key has an invalid character",
                    hint="check that its variable has no space or line break in it",
                )
            headers["authorization"] = f"Bearer {api_key}"
        self._headers = headers
        self._client: httpx2.Client | None = None
        self._lock = threading.Lock()

    def post(self, path: str, body: Mapping[str, object], *, timeout: float) -> dict[str, Any]:
        """Post a JSON request and return the JSON object in the reply.

        Args:
            path: Below `base_url`, such as `/embeddings`.
            body: Sent as JSON.
            timeout: Seconds for the whole call; a reply that trickles in may take twice as long.

        Raises:
            EmbeddingFailure: There is no reply, or it is an error or not a JSON object.
        """
        url = self.base_url + path
        deadline = time.monotonic() + timeout
        limits = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
        try:
            with self._open().stream("POST", url, json=body, timeout=limits) as response:
                content = self._read(response, deadline)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise self._unreachable(error) from None
        except httpx2.TimeoutException:
            raise EmbeddingFailure(
                f"{self.base_url}: no complete answer within {timeout:g} s", is_temporary=True
            ) from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise EmbeddingFailure(f"{self.base_url}: {error}", hint="correct the url") from None
        except httpx2.HTTPError as error:
            raise EmbeddingFailure(
                f"{self.base_url}: the connection failed: {self._shown(str(error))}",
                is_temporary=True,
            ) from None
        if response.status_code != 200:
            raise name_dimensions(self._refusal(response, content), self.dimensions)
        return self._parse(content)

    def close(self) -> None:
        """Close idle connections; the object stays usable."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _open(self) -> httpx2.Client:
        # Loading certificates takes tens of milliseconds, too long for the server's start.
        with self._lock:
            if self._client is None:
                self._client = httpx2.Client(headers=self._headers)
            return self._client

    def _read(self, response: httpx2.Response, deadline: float) -> bytes:
        most = MAX_REPLY_BYTES if response.status_code == 200 else MAX_ERROR_BYTES
        content = bytearray()
        for part in response.iter_bytes():
            content += part
            if len(content) > most:
                if response.status_code != 200:
                    break
                raise bad_reply(f"{self.base_url}: the reply is larger than {most:,} bytes")
            if time.monotonic() > deadline:
                raise httpx2.ReadTimeout("late")
        return bytes(content)

    def _parse(self, content: bytes) -> dict[str, Any]:
        try:
            reply = json.loads(content)
        except (ValueError, RecursionError):
            start = content[:SHOWN_CHARACTERS].decode("utf-8", errors="replace")
            raise bad_reply(
                f"{self.base_url}: the reply is not JSON: {self._shown(start)}",
                hint="check embedding.base_url, which ends in /v1 for most services",
            ) from None
        if not isinstance(reply, dict):
            raise bad_reply(f"{self.base_url}: the reply is not a JSON object")
        if reply.get("error"):
            failure = bad_reply(f"{self.base_url}: {self._shown(find_message(content))}")
            raise name_dimensions(failure, self.dimensions)
        return reply

    def _refusal(self, response: httpx2.Response, content: bytes) -> EmbeddingFailure:
        status = response.status_code
        said = self._shown(find_message(content))
        place = f"{self.base_url}: model {self.model!r}: status {status}"
        if status == 401:
            # The service's message may repeat part of the key.
            found = "the API key was rejected" if self._api_key else "an API key is needed"
            return EmbeddingFailure(
                f"{self.base_url}: {found} (status 401)",
                status=401,
                hint="set the variable named by embedding.api_key_env to a valid key",
            )
        if status == 402 or (status == 429 and any(word in content for word in QUOTA)):
            return EmbeddingFailure(
                f"{place}: the quota is used up: {said}",
                hint="see the service's billing page; finished embeddings are kept",
            )
        if status in TEMPORARY:
            wait = parse_retry_after(response.headers)
            return EmbeddingFailure(
                f"{place}: {said}", is_temporary=True, retry_after=wait, status=status
            )
        if status in TEXTS_REFUSED:
            return EmbeddingFailure(f"{place}: {said}", is_bad_reply=True, status=status)
        if status in (403, 404):
            hint = "check embedding.model, embedding.base_url, and the permissions of the key"
            return EmbeddingFailure(f"{place}: {said}", hint=hint)
        return EmbeddingFailure(f"{place}: {said}", hint="check embedding.base_url")

    def _unreachable(self, error: Exception) -> EmbeddingFailure:
        why = self._shown(str(error)) or "no connection in time"
        message = f"{self.base_url}: cannot be reached: {why}"
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return EmbeddingFailure(
                    message,
                    hint="set SSL_CERT_FILE to the additional certificates to trust",
                )
            cause = cause.__cause__ or cause.__context__
        return EmbeddingFailure(
            message,
            is_temporary=True,
            is_unreachable=True,
            hint="is the service running, and is embedding.base_url its address?",
        )

    def _shown(self, text: str) -> str:
        """Return a service's message made safe to quote: short, one line, without the key."""
        if self._api_key:
            text = text.replace(self._api_key, "***")
        line = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
        return line if len(line) <= SHOWN_CHARACTERS else line[:SHOWN_CHARACTERS] + "..."


def find_message(content: bytes) -> str:
    """Return the message of a service's error, from its usual places in the JSON.

    Without a message there, returns the JSON; if it is not JSON, its beginning.
    """
    try:
        found: Any = json.loads(content)
    except (ValueError, RecursionError):
        return content[: 2 * SHOWN_CHARACTERS].decode("utf-8", errors="replace")
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return found if isinstance(found, str) else json.dumps(found)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Parse a Retry-After header, seconds or a date (RFC 9110, 10.2.3); None without one.

    A date is compared with the service's own clock if the reply has a Date header.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        # One of the dates may have no time zone.
        return None
