"""Models run by Sentence Transformers, on this machine.

https://sbert.net/docs/package_reference/sentence_transformer/model.html
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...index.layout import IndexFiles
from .local import LocalQueryEncoder, find_folder, read_model, unusable
from .probe import require_model
from .replies import EmbeddingFailure, check_vectors


class SentenceTransformersEmbeddings:
    """A loaded model, for one thread at a time.

    Args:
        model: A name on the Hugging Face Hub, or a folder, which needs no network access.
        install: Command that installs the package, for the error message.
        revision: A commit of the model; None for the newest.

    Raises:
        EmbeddingFailure: The package or the model is missing, or loading fails.
    """

    def __init__(self, model: str, *, install: str, revision: str | None = None) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbeddingFailure(
                f"the model {model!r} needs sentence-transformers: {error}", hint=install
            ) from None
        folder = find_folder(model)
        try:
            self.network: Any = SentenceTransformer(
                model if folder is None else str(folder),
                revision=revision,
                local_files_only=folder is not None,
                trust_remote_code=False,
            )
        except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
            raise unusable(model, error) from None

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"], *, timeout: float = 0
    ) -> NDArray[np.float32]:
        """Return unit vectors (n, d) in the order of the texts, which have their prefixes.

        Args:
            texts: Truncated to the model's maximum length.
            side: Matters for models with separate networks for queries and documents.
            timeout: Ignored: the model runs on this machine.

        Raises:
            EmbeddingFailure: A vector is not finite, or all zeros.
        """
        del timeout
        encode = self.network.encode_query if side == "query" else self.network.encode_document
        # The prompt is empty, because the model would otherwise add its own.
        rows = encode(
            list(texts), prompt="", batch_size=max(1, len(texts)), show_progress_bar=False
        )
        return check_vectors(rows, len(texts), None)

    def close(self) -> None:
        """Free the model."""
        self.network = None


def open_encoder(files: IndexFiles) -> LocalQueryEncoder:
    """Load the model of an index and verify it with the probe text.

    Raises IndexUnusableError if the index was built with another model, EmbeddingFailure if the
    model cannot be loaded, and ConfigurationError for invalid settings.
    """
    dense = require_model(files, "sentence-transformers")
    model = SentenceTransformersEmbeddings(
        read_model(),
        install="pip install sentence-transformers",
        revision=dense.revision or None,
    )
    return LocalQueryEncoder(model, files.layout, dense)
