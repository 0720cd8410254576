"""Queries are embedded by the model that embedded the documents, through Cohere's `/v2/embed`."""

from ..index.layout import DenseManifest, IndexLayout
from .embedding.cohere import CohereEmbeddings
from .embedding.live import LiveQueryEncoder
from .embedding.settings import read_service_settings
from .probe import require_model


def open_query_encoder(layout: IndexLayout, dense: DenseManifest) -> LiveQueryEncoder:
    """Ask the service for the probe text.

    Raises IndexUnusableError if it has another model than the index; ConfigurationError.
    """
    require_model(layout, dense, "cohere")
    service = read_service_settings()
    client = CohereEmbeddings(
        service.base_url, dense.model, api_key=service.api_key, dimensions=service.dimensions
    )
    return LiveQueryEncoder(client, layout, dense)
