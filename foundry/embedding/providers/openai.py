"""Models behind OpenAI's embeddings API, at OpenAI's or at any other address."""

from urllib.parse import urlsplit

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.service import ServiceModel, read_key
from foundry.runtime.retrieval.embedding.openai import OpenAIEmbeddings

OWN_HOST = "api.openai.com"


def open_model(options: EmbeddingSection) -> ServiceModel:
    """Return the model; nothing is asked yet. Raises BuildError where OpenAI's own key is
    missing."""
    is_own = urlsplit(options.base_url).hostname == OWN_HOST
    client = OpenAIEmbeddings(
        options.base_url,
        options.model,
        api_key=read_key(options, is_required=is_own),
        dimensions=options.dimensions,
    )
    return ServiceModel(
        options,
        client,
        # OpenAI takes 2,048 texts and 300,000 tokens; others may take 32 texts and no more. Small
        # calls lose less when one is lost.
        batch_tokens=100_000 if is_own else 16_384,
        batch_texts=256 if is_own else 32,
        sides_differ=False,
    )
