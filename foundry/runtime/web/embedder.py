"""The service that embeds queries, as `/readyz` shows it."""

from dataclasses import dataclass
from typing import Any, Literal

from ..index.reader import Index
from ..index.records import Record
from ..retrieval.embedding.live import LiveQueryEncoder
from .answers import ReadinessPart


@dataclass(frozen=True, slots=True)
class EmbedderAnswer(Record):
    """The embedding service, as the last call found it; `detail` says what that means.

    Searches are answered by keywords alone while it is not ok.
    """

    status: Literal["ok", "unavailable", "mismatch"]
    detail: str | None


def _describe(index: Index) -> dict[str, Any]:
    assert isinstance(index.encoder, LiveQueryEncoder)
    state = index.encoder.state
    return {"status": state.status, "detail": state.detail}


EMBEDDER = ReadinessPart("embedder", EmbedderAnswer, _describe)
