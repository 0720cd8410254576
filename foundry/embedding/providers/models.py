"""Open the embedding model that foundry.toml names."""

import os

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import EmbeddingModel
from foundry.errors import BuildError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure


def open_model(options: EmbeddingSection) -> EmbeddingModel:
    """Return the model, loaded where it runs on this machine; a service is not asked yet.

    EMBEDDING_BASE_URL stands in for the address of a service that is configured, here as in the
    server: it need not be the same from everywhere.

    Args:
        options: Of any provider that has a `model`.

    Raises:
        BuildError: When a package, a key or the model is missing.
    """
    address = os.environ.get("EMBEDDING_BASE_URL", "").strip()
    if options.base_url and address:
        options = options.model_copy(update={"base_url": address.rstrip("/")})
    try:
        return _open(options)
    except EmbeddingFailure as failure:
        raise BuildError(failure.message, hint=failure.hint) from None


def _open(options: EmbeddingSection) -> EmbeddingModel:
    # Each brings its own libraries, so only the one that is asked for is imported.
    if options.provider == "fastembed":
        from foundry.embedding.providers import fastembed

        return fastembed.open_model(options)
    if options.provider == "sentence-transformers":
        from foundry.embedding.providers import sentence_transformers

        return sentence_transformers.open_model(options)
    from foundry.embedding.providers import services

    is_cohere = options.provider == "cohere"
    return services.open_cohere(options) if is_cohere else services.open_openai(options)
