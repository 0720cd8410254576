"""Queries are embedded by the documents' model, which Sentence Transformers runs in the server."""

from ..index.layout import DenseManifest, IndexLayout
from .embedding.local import LocalQueryEncoder
from .embedding.sentence_transformers import SentenceTransformersEmbeddings
from .probe import require_model
from .settings import read_model


def open_query_encoder(layout: IndexLayout, dense: DenseManifest) -> LocalQueryEncoder:
    """Load the model and run it on the probe text.

    Raises IndexUnusableError if it is another model than the index's; EmbeddingFailure if it
    cannot be loaded; ConfigurationError.
    """
    require_model(layout, dense, "sentence-transformers")
    model = SentenceTransformersEmbeddings(
        read_model("embedding", "EMBEDDING_MODEL"),
        install="pip install sentence-transformers",
        revision=dense.revision or None,
    )
    return LocalQueryEncoder(model, layout, dense)
