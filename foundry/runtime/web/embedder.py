"""The service that embeds queries, as `/readyz` shows it."""

from typing import Any

from ..index.reader import Index
from ..retrieval.embedding.live import LiveQueryEncoder


def describe_embedder(index: Index) -> dict[str, Any]:
    """Return how the last call found the service: `ok`, `unavailable` or `mismatch`.

    `detail` says what that means: searches are answered by keywords alone while it is not ok.
    """
    assert isinstance(index.encoder, LiveQueryEncoder)
    state = index.encoder.state
    return {"status": state.status, "detail": state.detail}
