"""Opens the embedding model that foundry.toml names."""

import os
from dataclasses import replace

from foundry.config_embedding import EmbeddingOptions
from foundry.embedding.model import EmbeddingModel
from foundry.errors import BuildError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure


def open_model(options: EmbeddingOptions) -> EmbeddingModel:
    """The model, loaded where it runs on this machine; a service is not asked yet.

    EMBEDDING_BASE_URL stands in for the address of a service that is configured, here as in the
    server: it need not be the same from everywhere.

    Args:
        options: Of any provider that has a `model`.

    Raises:
        BuildError: When a package, a key or the model is missing.
    """
    address = os.environ.get("EMBEDDING_BASE_URL", "").strip()
    if options.base_url and address:
        options = replace(options, base_url=address.rstrip("/"))
    try:
        return _open(options)
    except EmbeddingFailure as failure:
        raise BuildError(failure.message, hint=failure.hint) from None


def _open(options: EmbeddingOptions) -> EmbeddingModel:
    # Each brings its own libraries, which take their time to load.
    if options.provider == "openai":
        from foundry.embedding.openai import open_openai

        return open_openai(options)
    if options.provider == "cohere":
        from foundry.embedding.cohere import open_cohere

        return open_cohere(options)
    if options.provider == "fastembed":
        from foundry.embedding.fastembed import FastEmbedModel

        return FastEmbedModel(options)
    if options.provider == "sentence-transformers":
        from foundry.embedding.sentence_transformers import SentenceTransformersModel

        return SentenceTransformersModel(options)
    raise BuildError(f"the provider {options.provider!r} is no model", hint="choose another")
