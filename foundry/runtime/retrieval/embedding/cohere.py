"""Cohere's `/v2/embed`, which embeds documents and queries differently.

https://docs.cohere.com/reference/embed
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...index.layout import IndexFiles
from .http import EmbeddingService
from .live import LiveQueryEncoder, ask_service
from .replies import EmbeddingFailure, bad_reply, name_dimensions, read_vectors

FIXED_WIDTH = ("-v2.0", "-v3.0")
"""Models of fixed width, which reject `output_dimension`."""

INPUT_TYPES = {"document": "search_document", "query": "search_query"}


class CohereEmbeddings:
    """Embeds over HTTP; threads can share one.

    Args:
        base_url: Such as `https://api.cohere.com/v2`.
        model: Such as `embed-v4.0`.
        api_key: Sent as a bearer token.
        dimensions: Number to request; None for the model's default.
    """

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None, dimensions: int | None
    ) -> None:
        self._service = EmbeddingService(base_url, model, api_key)
        self._model = model
        self._dimensions = dimensions

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"], *, timeout: float
    ) -> NDArray[np.float32]:
        """Return unit vectors (n, d) in the order of the texts.

        Args:
            texts: With prefixes.
            side: Whether the texts are documents or queries.
            timeout: Seconds for the whole call.

        Raises:
            EmbeddingFailure: The service failed or its reply is invalid.
        """
        body: dict[str, object] = {
            "model": self._model,
            "texts": list(texts),
            "input_type": INPUT_TYPES[side],
            "embedding_types": ["float"],
            # By default the service truncates long texts silently.
            "truncate": "NONE",
        }
        if self._dimensions is not None and not self._model.endswith(FIXED_WIDTH):
            body["output_dimension"] = self._dimensions
        try:
            reply = self._service.post("/embed", body, timeout=timeout)
        except EmbeddingFailure as failure:
            raise name_dimensions(failure, self._dimensions) from None
        found = reply.get("embeddings")
        rows = found.get("float") if isinstance(found, dict) else None
        if not isinstance(rows, list):
            raise bad_reply("the reply has no list 'embeddings.float'")
        return read_vectors(rows, len(texts), self._dimensions)

    def close(self) -> None:
        """Close idle connections."""
        self._service.close()


def open_encoder(files: IndexFiles) -> LiveQueryEncoder:
    """Return an encoder that calls Cohere to embed queries; see `ask_service`."""
    return ask_service(files, "cohere", CohereEmbeddings)
