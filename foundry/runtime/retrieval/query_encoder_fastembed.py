"""Queries are embedded by the documents' model, which FastEmbed runs in the server."""

from ..index.layout import DenseManifest, IndexLayout
from .embedding.fastembed import FastEmbedEmbeddings
from .embedding.local import LocalQueryEncoder
from .probe import require_model
from .settings import read_model


def open_query_encoder(layout: IndexLayout, dense: DenseManifest) -> LocalQueryEncoder:
    """Load the model and run it on the probe text.

    Raises IndexUnusableError if it is another model than the index's; EmbeddingFailure if it
    cannot be loaded; ConfigurationError.
    """
    require_model(layout, dense, "fastembed")
    model = FastEmbedEmbeddings(
        read_model("embedding", "EMBEDDING_MODEL"), install="pip install fastembed"
    )
    return LocalQueryEncoder(model, layout, dense)
