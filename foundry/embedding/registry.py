"""Embedders by the name that foundry.toml gives them."""

from typing import Literal

from foundry.embedding.embedder import Embedder
from foundry.embedding.static import StaticEmbedder


def open_embedder(provider: Literal["static", "none"]) -> Embedder | None:
    """The embedder of a provider; None where the index is to have no vectors."""
    return StaticEmbedder() if provider == "static" else None
