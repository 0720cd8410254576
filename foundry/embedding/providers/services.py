"""Models behind an HTTP service: OpenAI's embeddings API, at any address, and Cohere's."""

import os
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import ModelLimits, Side
from foundry.embedding.providers.prefixes import choose_prefixes, find_known
from foundry.embedding.providers.token_estimate import estimate_tokens
from foundry.errors import BuildError
from foundry.runtime.retrieval.embedding.cohere import CohereEmbeddings
from foundry.runtime.retrieval.embedding.openai import OpenAIEmbeddings
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

OPENAI_HOST = "api.openai.com"

CALL_SECONDS = 120.0
"""For one call; a large batch on a small machine takes its time."""

UNKNOWN_TOKENS = 2048
"""Of one text, for a model that is not known: what servers give even those that could take more."""


class Client(Protocol):
    """A client of `foundry.runtime`."""

    def embed(self, texts: Sequence[str], side: Side, *, timeout: float) -> NDArray[np.float32]:
        """Unit vectors (n, d) of texts. Raises EmbeddingFailure."""
        ...

    def close(self) -> None:
        """Close idle connections."""
        ...


class ServiceModel:
    """An `EmbeddingModel` that asks a service."""

    revision = ""

    def __init__(
        self,
        options: EmbeddingSection,
        client: Client,
        *,
        batch_tokens: int,
        batch_texts: int,
        sides_differ: bool,
    ) -> None:
        known = find_known(options.model)
        self.provider: str = options.provider
        self.model = options.model
        self.service = options.base_url
        self.dimensions = options.dimensions
        self.sides_differ = sides_differ
        self.prefixes = choose_prefixes(options)
        self.limits = ModelLimits(
            tokens=options.max_tokens or (known.tokens if known else UNKNOWN_TOKENS),
            batch_tokens=batch_tokens,
            batch_texts=batch_texts,
            calls=options.concurrency,
        )
        self._client = client
        self._key_variable = options.api_key_env

    def count_tokens(self, text: str) -> int:
        """Estimate tokens, rather too many than too few; see `token_estimate`."""
        return estimate_tokens(text)

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Return one call: unit vectors (n, d). Raises EmbeddingFailure."""
        try:
            return self._client.embed(texts, side, timeout=CALL_SECONDS)
        except EmbeddingFailure as failure:
            if failure.status != 401:
                raise
            raise EmbeddingFailure(
                failure.message, hint=f"set the variable {self._key_variable} to a valid key"
            ) from None

    def close(self) -> None:
        """Close idle connections."""
        self._client.close()


def open_openai(options: EmbeddingSection) -> ServiceModel:
    """Return the model; nothing is asked yet. Raises BuildError where OpenAI's own key is missing.

    OpenAI takes 2,048 texts and 300,000 tokens in a call; others may take 32 texts and no more.
    Small calls lose less when one is lost.
    """
    is_own = urlsplit(options.base_url).hostname == OPENAI_HOST
    client = OpenAIEmbeddings(
        options.base_url,
        options.model,
        api_key=_read_key(options, is_required=is_own),
        dimensions=options.dimensions,
    )
    return ServiceModel(
        options,
        client,
        batch_tokens=100_000 if is_own else 16_384,
        batch_texts=256 if is_own else 32,
        sides_differ=False,
    )


def open_cohere(options: EmbeddingSection) -> ServiceModel:
    """Return the model; nothing is asked yet. Raises BuildError where the key is missing.

    Cohere takes 96 texts and 128,000 tokens in a call.
    """
    client = CohereEmbeddings(
        options.base_url,
        options.model,
        api_key=_read_key(options, is_required=True),
        dimensions=options.dimensions,
    )
    return ServiceModel(options, client, batch_tokens=100_000, batch_texts=96, sides_differ=True)


def _read_key(options: EmbeddingSection, *, is_required: bool) -> str | None:
    """Return the service's key; None where none is set and none is required. Raises BuildError."""
    key = os.environ.get(options.api_key_env, "").strip()
    if not key and is_required:
        raise BuildError(
            f"{options.base_url} wants an API key, and the variable {options.api_key_env} is not"
            " set",
            hint=f"set {options.api_key_env}, or name another variable in embedding.api_key_env",
        )
    return key or None
