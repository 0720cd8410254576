"""Reranking by a service, with the APIs of Cohere, Jina or Text Embeddings Inference (TEI).

https://docs.cohere.com/reference/rerank, https://api.jina.ai/redoc,
https://huggingface.github.io/text-embeddings-inference
"""

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError
from ...settings import API_KEY, SETTINGS_FILE, read_address, read_variable, reading
from .rerank import Reranker

MAX_REPLY_BYTES = 1_000_000
LONGEST_SECONDS = 60.0  # Timeout of a call, which goes on after the search's deadline
CALLS_AT_ONCE = 16

# httpx logs every call at INFO; the server's own log already has every request.
logging.getLogger("httpx2").setLevel(logging.WARNING)


class ReplyError(Exception):
    """The service rejected the request, or its reply is unusable."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Settings of a service; `kind` is `cohere`, `jina` or `tei`, which has no model name."""

    kind: str
    base_url: str
    model: str

    @classmethod
    def read(cls, file: Path = SETTINGS_FILE) -> "ServiceSettings":
        """Read the settings from a file; RERANK_BASE_URL overrides the address.

        Raises ConfigurationError.
        """
        with reading(file) as values:
            chosen = values["rerank_service"]
            address = read_address("RERANK_BASE_URL") or str(chosen["base_url"])
            return cls(str(chosen["service"]), address.rstrip("/"), str(chosen["model"]))


class RerankService:
    """Calls a service for scores; threads can share one."""

    def __init__(self, settings: ServiceSettings, api_key: str | None) -> None:
        """Create the client. Raises ConfigurationError for a key that no header can contain."""
        self._settings = settings
        headers = {"Accept": "application/json"}
        if api_key is not None:
            if not API_KEY.fullmatch(api_key):
                problem = "RERANK_API_KEY has an invalid character"
                raise ConfigurationError(problem, hint="check that it has no spaces or line breaks")
            headers["Authorization"] = f"Bearer {api_key}"
        # Importing takes a tenth of a second, too long for the server's start.
        import httpx2

        # A redirect could send the passages and the key elsewhere.
        self._client = httpx2.Client(
            headers=headers, timeout=LONGEST_SECONDS, follow_redirects=False
        )

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """Return the relevance (n,) of passages (n,) to a query, 0 to 1.

        Raises ReplyError, and httpx2.HTTPError if there is no reply.
        """
        url = f"{self._settings.base_url}/rerank"
        with self._client.stream("POST", url, json=self._body(query, passages)) as response:
            if response.status_code != 200:
                raise ReplyError(f"the service answered {response.status_code}")
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if len(content) > MAX_REPLY_BYTES:
                    raise ReplyError(f"the reply is larger than {MAX_REPLY_BYTES:,} bytes")
        return self._read(bytes(content), len(passages))

    def _body(self, query: str, passages: Sequence[str]) -> dict[str, Any]:
        if self._settings.kind == "tei":
            # Without `truncate`, one passage that is too long would make the whole call fail.
            return {"query": query, "texts": list(passages), "truncate": True}
        body = {"model": self._settings.model, "query": query, "documents": list(passages)}
        return {**body, "return_documents": False} if self._settings.kind == "jina" else body

    def _read(self, content: bytes, count: int) -> NDArray[np.float64]:
        scores = np.full(count, np.nan)
        is_bare = self._settings.kind == "tei"
        try:
            reply = json.loads(content)
            for found in reply if is_bare else reply["results"]:
                place = found["index"]
                if type(place) is not int or not 0 <= place < count:
                    raise ReplyError(f"the reply scores passage {place!r}, but {count} were sent")
                scores[place] = found["score" if is_bare else "relevance_score"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ReplyError("the reply has an unexpected format") from None
        if not np.isfinite(scores).all():
            raise ReplyError("the reply has no finite score for each passage")
        return scores.clip(0.0, 1.0)


def reranker() -> Reranker:
    """Return the reranker of this process."""
    return _reranker_of(os.getpid())


@cache
def _reranker_of(_process: int) -> Reranker:
    # Each worker has its own, because connections do not survive a fork.
    def connect() -> RerankService:
        return RerankService(ServiceSettings.read(), read_variable("RERANK_API_KEY"))

    return Reranker(connect, at_once=CALLS_AT_ONCE)
