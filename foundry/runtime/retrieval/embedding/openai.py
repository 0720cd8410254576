"""Embeddings from services with OpenAI's `/embeddings`: OpenAI, vLLM, Ollama, TEI, LM Studio ...

https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...index.layout import IndexFiles
from .http import EmbeddingService
from .live import LiveQueryEncoder, ask_service
from .replies import bad_reply, read_vectors


class OpenAIEmbeddings(EmbeddingService):
    """Embeds with a service that has OpenAI's API; threads can share one."""

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"], *, timeout: float
    ) -> NDArray[np.float32]:
        """Return unit vectors (n, d) in the order of the texts.

        Args:
            texts: With prefixes.
            side: Ignored: documents and queries are embedded alike.
            timeout: Seconds for the whole call.

        Raises:
            EmbeddingFailure: The service failed or its reply is invalid.
        """
        del side
        body: dict[str, object] = {
            "model": self.model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        reply = self.post("/embeddings", body, timeout=timeout)
        return read_vectors(find_rows(reply, len(texts)), len(texts), self.dimensions)


def find_rows(reply: dict[str, Any], count: int) -> list[Any]:
    """Return the embeddings of a reply in the order of the texts, sorted by their `index`.

    Without indexes, the order of the reply is kept. Raises EmbeddingFailure for an invalid reply.
    """
    items = reply.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise bad_reply("the reply has no list 'data' of objects")
    if len(items) != count:
        raise bad_reply(f"the reply has {len(items)} vectors for {count} texts")
    numbers = [item.get("index") for item in items]
    if any(number is not None for number in numbers):
        if any(type(number) is not int for number in numbers) or sorted(numbers) != [*range(count)]:
            raise bad_reply("the vectors are not numbered 0 to n - 1")
        items = sorted(items, key=lambda item: item["index"])
    return [_numbers(item.get("embedding")) for item in items]


def _numbers(embedding: object) -> object:
    """Decode base64 of little-endian float32 to an array (d,); return a list unchanged."""
    if not isinstance(embedding, str):
        return embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    except (binascii.Error, ValueError):
        raise bad_reply("a vector is neither a list of numbers nor base64 of float32") from None


def open_encoder(files: IndexFiles) -> LiveQueryEncoder:
    """Return an encoder that calls the service to embed queries; see `ask_service`."""
    return ask_service(files, "openai", OpenAIEmbeddings)
