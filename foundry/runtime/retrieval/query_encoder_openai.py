"""Queries are embedded by the model that embedded the documents, through OpenAI's `/embeddings`."""

from ..index.layout import DenseManifest, IndexLayout
from .embedding.live import LiveQueryEncoder
from .embedding.openai import OpenAIEmbeddings
from .embedding.settings import read_service_settings
from .probe import require_model


def open_query_encoder(layout: IndexLayout, dense: DenseManifest) -> LiveQueryEncoder:
    """Ask the service for the probe text.

    Raises IndexUnusableError if it has another model than the index; ConfigurationError.
    """
    require_model(layout, dense, "openai")
    service = read_service_settings()
    client = OpenAIEmbeddings(
        service.base_url, dense.model, api_key=service.api_key, dimensions=service.dimensions
    )
    return LiveQueryEncoder(client, layout, dense)
