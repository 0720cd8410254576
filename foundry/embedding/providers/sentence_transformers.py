"""Models that Sentence Transformers runs on this machine."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import ModelLimits, Prefixes, Side
from foundry.embedding.providers.model_folder import hash_model_folder
from foundry.embedding.providers.prefixes import choose_prefixes
from foundry.runtime.retrieval.embedding.local import find_folder
from foundry.runtime.retrieval.embedding.sentence_transformers import SentenceTransformersEmbeddings

INSTALL = "pip install 'rag-foundry[sentence-transformers]'"
USUAL_TOKENS = 512
"""Of one text, where a model does not say."""

PROCESSOR_BATCH = 2048
ACCELERATOR_BATCH = 32_768
"""Tokens of a call: few stay in a processor's cache, many keep a graphics card busy."""

DOCUMENT_PROMPTS = ("document", "passage", "corpus")
TWO_NETWORKS = frozenset({"Router", "Asym"})


class SentenceTransformersModel:
    """An `EmbeddingModel` on this machine.

    Raises:
        EmbeddingFailure: When the package or the model is missing, or it cannot be loaded.
    """

    provider = "sentence-transformers"
    service = ""
    dimensions: int | None = None

    def __init__(self, options: EmbeddingSection) -> None:
        self._client = SentenceTransformersEmbeddings(options.model, install=INSTALL)
        network = self._client.network
        self._tokenizer = network.tokenizer
        folder = find_folder(options.model)
        if folder is None:
            self.model = options.model
            settings = getattr(network.transformers_model, "config", None)
            self.revision = str(getattr(settings, "_commit_hash", None) or "")
        else:
            # The hash says which model it is, wherever the folder lies.
            self.model = folder.resolve().name
            self.revision = hash_model_folder(folder)
        self.sides_differ = any(type(part).__name__ in TWO_NETWORKS for part in network)
        self.prefixes = choose_prefixes(options, _own_prefixes(network.prompts))
        takes = network.max_seq_length or USUAL_TOKENS
        is_processor = network.device.type == "cpu"
        self.limits = ModelLimits(
            tokens=min(takes, options.max_tokens or takes),
            batch_tokens=PROCESSOR_BATCH if is_processor else ACCELERATOR_BATCH,
            batch_texts=256,
            calls=1,
        )

    def count_tokens(self, text: str) -> int:
        """Exactly, by the model's own tokenizer."""
        # Silent about texts that are too long: they are counted in order to be split.
        return len(self._tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Return one call: unit vectors (n, d). Raises EmbeddingFailure."""
        return self._client.embed(texts, side)

    def close(self) -> None:
        """Let go of the model."""
        self._client.close()


def _own_prefixes(prompts: dict[str, str]) -> Prefixes | None:
    """Return the prompts that a model's files name for retrieval; None where they name none."""
    query = prompts.get("query") or ""
    document = next((prompts[name] for name in DOCUMENT_PROMPTS if prompts.get(name)), "")
    return Prefixes(document, query) if query or document else None


def open_model(options: EmbeddingSection) -> SentenceTransformersModel:
    """Load the model. Raises BuildError."""
    return SentenceTransformersModel(options)
