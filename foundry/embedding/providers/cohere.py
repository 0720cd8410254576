"""Models behind Cohere's embedding API."""

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.service import ServiceModel, read_key
from foundry.runtime.retrieval.embedding.cohere import CohereEmbeddings


def open_model(options: EmbeddingSection) -> ServiceModel:
    """Return the model; nothing is asked yet. Raises BuildError where the key is missing."""
    client = CohereEmbeddings(
        options.base_url,
        options.model,
        api_key=read_key(options, is_required=True),
        dimensions=options.dimensions,
    )
    # Cohere takes 96 texts and 128,000 tokens.
    return ServiceModel(options, client, batch_tokens=100_000, batch_texts=96, sides_differ=True)
