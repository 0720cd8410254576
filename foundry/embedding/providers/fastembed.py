"""Models that FastEmbed runs on this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import ModelLimits, Side
from foundry.embedding.providers.model_folder import hash_model_folder
from foundry.embedding.providers.prefixes import choose_prefixes
from foundry.runtime.retrieval.embedding.fastembed import FastEmbedEmbeddings
from foundry.runtime.retrieval.embedding.local import find_folder

INSTALL = "pip install 'rag-foundry[fastembed]'"
BATCH_TOKENS = 4096


class FastEmbedModel:
    """An `EmbeddingModel` on this machine.

    Raises:
        EmbeddingFailure: When the package or the model is missing, or it cannot be loaded.
    """

    provider = "fastembed"
    service = ""
    dimensions: int | None = None

    def __init__(self, options: EmbeddingSection) -> None:
        self._client = FastEmbedEmbeddings(options.model, install=INSTALL)
        network = self._client.network
        self._tokenizer, takes = _counting_tokenizer(network.tokenizer)
        folder = find_folder(options.model)
        if folder is None:
            self.model = options.model
            self.revision = _commit_of(Path(network._model_dir))
        else:
            # The hash says which model it is, wherever the folder lies.
            self.model = folder.resolve().name
            self.revision = hash_model_folder(folder)
        self.sides_differ = _sides_differ(network)
        self.prefixes = choose_prefixes(options)
        self.limits = ModelLimits(
            tokens=min(takes, options.max_tokens or takes),
            batch_tokens=BATCH_TOKENS,
            batch_texts=256,
            calls=1,
        )

    def count_tokens(self, text: str) -> int:
        """Exactly, by the model's own tokenizer."""
        return len(self._tokenizer.encode(text).ids)

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Return one call: unit vectors (n, d). Raises EmbeddingFailure."""
        return self._client.embed(texts, side)

    def close(self) -> None:
        """Let go of the model."""
        self._client.close()


def _counting_tokenizer(tokenizer: Any) -> tuple[Any, int]:
    """A copy of a tokenizer that cuts and fills up nothing, and where the original would cut."""
    most = int(tokenizer.truncation["max_length"])
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy, most


def _commit_of(folder: Path) -> str:
    """Return the commit in the path of a downloaded snapshot; empty if there is none."""
    parts = folder.parts
    return parts[parts.index("snapshots") + 1] if "snapshots" in parts[:-1] else ""


def _sides_differ(network: Any) -> bool:
    from fastembed.text.text_embedding_base import TextEmbeddingBase

    kind = type(network)
    return (
        kind.query_embed is not TextEmbeddingBase.query_embed
        or kind.passage_embed is not TextEmbeddingBase.passage_embed
    )


def open_model(options: EmbeddingSection) -> FastEmbedModel:
    """Load the model. Raises BuildError."""
    return FastEmbedModel(options)
