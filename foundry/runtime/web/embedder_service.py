"""What `/readyz` says about the service that embeds queries."""

from typing import Any, Literal, Protocol

from ..index.state import served
from ..retrieval.embedding.live import LiveQueryEncoder
from . import answers as web_answers
from .answers import AnswerModel


class EmbedderAnswer(AnswerModel):
    """The embedding service, as the last call found it; `detail` says what that means."""

    status: Literal["ok", "unavailable", "mismatch"]
    detail: str | None


class Readiness(web_answers.Readiness):
    """The index is open; searches are answered by keywords alone while the embedder is not ok.

    `status` is then `degraded`, as it is for what is wrong with the index.
    """

    embedder: EmbedderAnswer


class LiveIndex(Protocol):
    """An index whose queries a service embeds."""

    encoder: LiveQueryEncoder


def describe_embedder(index: LiveIndex) -> dict[str, Any]:
    """The part of `Readiness` that is about the embedder."""
    state = index.encoder.state
    embedder = {"embedder": {"status": state.status, "detail": state.detail}}
    if state.status == "ok":
        return embedder
    return {"status": "degraded", "problem": served.state.problem or state.detail, **embedder}
