"""Embeds queries with the service that embedded the documents, and handles its failures.

If the service fails, `encode` returns None and the search continues with keywords only. The service
is then not called for a while, until a query retries it; no restart is needed.

The service's vectors are used only if its vector of the probe text is close to the one in the
index. This is checked at start-up and after each failure, since the service may come back with
another model.
"""

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError, IndexUnusableError
from ...index.layout import IndexFiles, IndexLayout
from ...index.reader import Index
from ...settings import ADDRESS, SETTINGS_FILE, reading
from ..circuit_breaker import CircuitBreaker
from ..deadlines import call_within
from ..timing import stage
from .probe import DenseManifest, find_difference, require_model
from .recent import RecentVectors
from .replies import EmbeddingFailure

DEADLINE_SECONDS = 5.0
"""Timeout for embedding a query."""

QUICK_SECONDS = 0.5
"""A connection that fails within this time is retried once: services often close an idle
connection just as it is reused.
"""

_logger = logging.getLogger(__name__)


class EmbeddingClient(Protocol):
    """A client of an embedding service."""

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None, dimensions: int | None
    ) -> None: ...

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"], *, timeout: float
    ) -> NDArray[np.float32]:
        """Return unit vectors (n, d) in about `timeout` seconds. Raises EmbeddingFailure."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """Whether queries can be embedded.

    `mismatch` means that the service has a different model from the index's. `detail` is shown to
    callers; the service's own message is only logged.
    """

    status: Literal["ok", "unavailable", "mismatch"]
    detail: str | None


OK = EmbedderState("ok", None)
UNAVAILABLE = EmbedderState(
    "unavailable",
    "The embedding service does not respond; until it does, only keywords are searched.",
)
MISMATCH = EmbedderState(
    "mismatch",
    "The embedding service has a different model from the one that the index was built with; until"
    " that is fixed, only keywords are searched.",
)


class LiveQueryEncoder:
    """Calls a service to embed queries; threads can share one."""

    def __init__(self, client: EmbeddingClient, layout: IndexLayout, dense: DenseManifest) -> None:
        """Embed the probe text to verify the model.

        Raises IndexUnusableError if the service has a different model from the index's. A service
        that does not respond is not an error, because it may recover later.
        """
        self._client = client
        self._dense = dense
        self._place = layout.root
        self._breaker: CircuitBreaker[EmbedderState] = CircuitBreaker()
        self._recent = RecentVectors()
        ticket = self._breaker.admit()
        assert ticket is not None
        try:
            self._check_probe(time.monotonic() + DEADLINE_SECONDS)
        except EmbeddingFailure as failure:
            self._leave_alone(ticket, failure)

    @property
    def state(self) -> EmbedderState:
        """State of the service after the latest call."""
        return self._breaker.fault or OK

    @stage("encode")
    def encode(self, text: str) -> NDArray[np.float32] | None:
        """Return the unit vector (d,) of a query.

        None if the service fails or rejects the query, and for a while after a failure.
        """
        vector = self._recent.get(text)
        if vector is not None:
            return vector
        ticket = self._breaker.admit()
        if ticket is None:
            return None
        deadline = time.monotonic() + DEADLINE_SECONDS
        try:
            if self._breaker.fault is not None:
                self._check_probe(deadline)
            vector = self._embed(self._dense.query_prefix + text, deadline)
        except (EmbeddingFailure, IndexUnusableError) as failure:
            self._leave_alone(ticket, failure)
            return None
        if self._breaker.succeed(ticket):
            _logger.warning("the embedding service responds again")
        if vector is not None:
            self._recent.put(text, vector)
        return vector

    def _embed(self, text: str, deadline: float) -> NDArray[np.float32] | None:
        """Return the vector of a text; None if the service rejects this particular text."""
        try:
            vector = self._ask(text, deadline)
        except EmbeddingFailure as failure:
            if not failure.is_bad_reply:
                raise
            self._check_probe(deadline)
            return None
        if len(vector) != self._dense.dimensions:
            raise self._other_model(f"a query's vector has {len(vector)} dimensions")
        return vector

    def _check_probe(self, deadline: float) -> None:
        """Raise IndexUnusableError if the service has a different model from the index's.

        Raises EmbeddingFailure if the service fails.
        """
        probe = self._ask(self._dense.query_prefix + self._dense.probe_text, deadline)
        difference = find_difference(probe, self._dense)
        if difference is not None:
            raise self._other_model(f"the probe text's vector {difference}")

    def _ask(self, text: str, deadline: float) -> NDArray[np.float32]:
        started = time.monotonic()
        try:
            return self._call(text, deadline)
        except EmbeddingFailure as failure:
            is_broken = failure.is_temporary and failure.status is None
            if (
                not is_broken
                or failure.is_unreachable
                or time.monotonic() - started > QUICK_SECONDS
            ):
                raise
        return self._call(text, deadline)

    def _call(self, text: str, deadline: float) -> NDArray[np.float32]:
        seconds = max(0.0, deadline - time.monotonic())
        embed = partial(self._client.embed, [text], "query", timeout=seconds)
        try:
            vector: NDArray[np.float32] = call_within(seconds, embed)[0]
        except TimeoutError:
            message = f"no complete answer within {DEADLINE_SECONDS:g} s"
            raise EmbeddingFailure(message, is_temporary=True) from None
        return vector

    def _other_model(self, difference: str) -> IndexUnusableError:
        model = f"{self._dense.provider} model {self._dense.model!r}"
        return IndexUnusableError(
            f"{self._place}: built with {model}, but the embedding service has a different"
            f" model under this name: {difference}",
            hint="configure the service to serve the index's model, or rebuild the index",
        )

    def _leave_alone(self, ticket: int, failure: EmbeddingFailure | IndexUnusableError) -> None:
        if isinstance(failure, EmbeddingFailure):
            state, pause = UNAVAILABLE, failure.retry_after or 0.0
        else:
            state, pause = MISMATCH, 0.0
        if self._breaker.fail(ticket, state, pause):
            hint = f" ({failure.hint})" if failure.hint else ""
            _logger.warning(
                "queries cannot be embedded, only keywords are searched: %s%s",
                failure.message,
                hint,
            )


def describe_embedder(index: Index) -> dict[str, Any]:
    """Return the service's state for /readyz: `status` is `ok`, `unavailable` or `mismatch`.

    Unless it is `ok`, `detail` explains it, and searches use keywords only.
    """
    assert isinstance(index.encoder, LiveQueryEncoder)
    state = index.encoder.state
    return {"status": state.status, "detail": state.detail}


def ask_service(
    files: IndexFiles, provider: str, client: type[EmbeddingClient]
) -> LiveQueryEncoder:
    """Return an encoder for queries, verified with the probe text if the service responds.

    The address comes from EMBEDDING_BASE_URL if set, else from settings.json, which also names the
    environment variable with the API key. Raises IndexUnusableError if the service has a different
    model from the index, and ConfigurationError for invalid settings. No message contains the key.
    """
    dense = require_model(files, provider)
    with reading(SETTINGS_FILE) as settings:
        values = settings["embedding"]
        base_url = os.environ.get("EMBEDDING_BASE_URL", "").strip() or str(values["base_url"])
        api_key = os.environ.get(str(values["api_key_env"]), "").strip() or None
        dimensions = None if values["dimensions"] is None else int(values["dimensions"])
    if not ADDRESS.fullmatch(base_url):
        raise ConfigurationError(
            "the address of the embedding service must be http or https, without user, query or"
            " fragment",
            hint="correct or unset EMBEDDING_BASE_URL, or export the server again with another"
            " embedding.base_url",
        )
    asked = client(base_url.rstrip("/"), dense.model, api_key=api_key, dimensions=dimensions)
    return LiveQueryEncoder(asked, files.layout, dense)
