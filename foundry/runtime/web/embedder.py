"""What `/readyz` says about the embedding of queries: nothing, where the index does it itself."""

from typing import Any

from ..index.reader import Index
from .answers import Readiness

__all__ = ["Readiness", "describe_embedder"]


def describe_embedder(_index: Index) -> dict[str, Any]:
    """The part of `Readiness` that is about the embedder."""
    return {}
