"""What `/readyz` says beside the index: about the service that embeds queries, and the engine."""

from typing import Any, Protocol

from ..retrieval.embedding.live import LiveQueryEncoder
from ..store.store import Store
from . import embedder_service as web_embedder_service
from .embedder_stored import EngineAnswer
from .store import require_store


class Readiness(web_embedder_service.Readiness):
    """The index is open, and its engine answers; 503 otherwise.

    Searches are answered by keywords alone while the embedder is not ok.
    """

    engine: EngineAnswer


class StoredLiveIndex(Protocol):
    """An index whose lanes are in an engine, and whose queries a service embeds."""

    store: Store
    encoder: LiveQueryEncoder


def describe_embedder(index: StoredLiveIndex) -> dict[str, Any]:
    """The part of `Readiness` that is about embedder and engine. Raises StoreError."""
    require_store(index.store)
    return {"engine": {"status": "ok"}, **web_embedder_service.describe_embedder(index)}
