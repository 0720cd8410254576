"""Opens the embedding model that foundry.toml names."""

import os
from importlib import import_module

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
        # Each provider's module is called like it, and brings its own libraries.
        module = import_module(f"foundry.embedding.providers.{options.provider.replace('-', '_')}")
        model: EmbeddingModel = module.open_model(options)
        return model
    except EmbeddingFailure as failure:
        raise BuildError(failure.message, hint=failure.hint) from None
