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
from .replies import bad_reply, read_vectors

FIXED_WIDTH = ("-v2.0", "-v3.0")
"""Endings of the names of models that have a fixed width and reject `output_dimension`."""

INPUT_TYPES = {"document": "search_document", "query": "search_query"}


class CohereEmbeddings(EmbeddingService):
    """Embeds with Cohere; threads can share one."""

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
            "model": self.model,
            "texts": list(texts),
            "input_type": INPUT_TYPES[side],
            "embedding_types": ["float"],
            # By default the service truncates long texts silently.
            "truncate": "NONE",
        }
        if self.dimensions is not None and not self.model.endswith(FIXED_WIDTH):
            body["output_dimension"] = self.dimensions
        found = self.post("/embed", body, timeout=timeout).get("embeddings")
        rows = found.get("float") if isinstance(found, dict) else None
        if not isinstance(rows, list):
            raise bad_reply("the reply has no list 'embeddings.float'")
        return read_vectors(rows, len(texts), self.dimensions)


def open_encoder(files: IndexFiles) -> LiveQueryEncoder:
    """Return an encoder that calls Cohere to embed queries; see `ask_service`."""
    return ask_service(files, "cohere", CohereEmbeddings)
