"""What `/readyz` says beside the index: whether the engine that holds its lanes answers."""

from typing import Any, Literal, Protocol

from ..store.store import Store
from . import answers as web_answers
from .answers import AnswerModel
from .store import require_store


class EngineAnswer(AnswerModel):
    """The engine, which holds the version that is served; without it there is no readiness."""

    status: Literal["ok"]


class Readiness(web_answers.Readiness):
    """The index is open, and its engine answers; 503 otherwise."""

    engine: EngineAnswer


class StoredIndex(Protocol):
    """An index whose lanes are in an engine."""

    store: Store


def describe_embedder(index: StoredIndex) -> dict[str, Any]:
    """The part of `Readiness` that is about the engine. Raises StoreError."""
    require_store(index.store)
    return {"engine": {"status": "ok"}}
