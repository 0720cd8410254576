"""Models run by FastEmbed with ONNX Runtime, on this machine.

https://qdrant.github.io/fastembed/
"""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...index.layout import IndexFiles
from ...index.tree import read_file
from .local import LocalQueryEncoder, find_folder, read_model, unusable
from .probe import require_model
from .replies import EmbeddingFailure, check_vectors

NETWORKS = ("onnx/model.onnx", "model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx")
"""Possible paths of the ONNX file in a model's folder, in order of preference."""

MAX_CONFIG_BYTES = 1_000_000
POOLING_FILE = "1_Pooling/config.json"
POOLINGS = {
    "pooling_mode_cls_token": "CLS",
    "pooling_mode_mean_tokens": "MEAN",
    "pooling_mode_lasttoken": "LAST_TOKEN",
}
POOLING_NAMES = {"cls": "CLS", "mean": "MEAN", "lasttoken": "LAST_TOKEN"}


class FastEmbedEmbeddings:
    """A loaded model; threads can share one.

    Args:
        model: A model name that FastEmbed supports, or a folder with the ONNX network, the
            tokenizer files and `1_Pooling/config.json`. A folder needs no network access.
        install: Command that installs the package, for the error message.

    Raises:
        EmbeddingFailure: The package or the model is missing, or loading fails.
    """

    def __init__(self, model: str, *, install: str) -> None:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise EmbeddingFailure(
                f"the model {model!r} needs fastembed: {error}", hint=install
            ) from None
        folder = find_folder(model)
        options: dict[str, Any]
        try:
            if folder is None:
                name, options = model, {"cache_dir": _cache_folder()}
            else:
                name, options = _register(folder), {"specific_model_path": str(folder)}
            self.network: Any = TextEmbedding(name, **options).model
        except EmbeddingFailure:
            raise
        except Exception as error:
            # ONNX Runtime's exceptions have no common base class.
            raise unusable(model, error) from None

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"], *, timeout: float = 0
    ) -> NDArray[np.float32]:
        """Return unit vectors (n, d) in the order of the texts, which have their prefixes.

        Args:
            texts: Truncated to the model's maximum length.
            side: Matters for models that embed queries and documents differently.
            timeout: Ignored: the model runs on this machine.

        Raises:
            EmbeddingFailure: A vector is not finite, or all zeros.
        """
        del timeout
        if side == "query":
            rows = [*self.network.query_embed(list(texts))]
        else:
            rows = [*self.network.passage_embed(list(texts), batch_size=max(1, len(texts)))]
        return check_vectors(rows, len(texts), None)

    def close(self) -> None:
        """Free the model."""
        self.network = None


def _cache_folder() -> str:
    # FastEmbed's default is in the temporary folder, where other users can write.
    chosen = os.environ.get("FASTEMBED_CACHE_PATH")
    return chosen or str(Path.home() / ".cache" / "fastembed")


def _register(folder: Path) -> str:
    """Register a folder with FastEmbed and return its name there. Raises EmbeddingFailure."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = "folder-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    if any(known["model"] == name for known in TextEmbedding.list_supported_models()):
        return name
    network = next((file for file in NETWORKS if (folder / file).is_file()), None)
    if network is None:
        raise EmbeddingFailure(
            f"{folder}: no ONNX network in this folder",
            hint="it must have one of " + ", ".join(NETWORKS),
        )
    pooling, width = _read_pooling(folder)
    TextEmbedding.add_custom_model(
        model=name,
        pooling=PoolingType(pooling),
        normalization=True,
        sources=ModelSource(hf=name),
        dim=width,
        model_file=network,
    )
    return name


def _read_pooling(folder: Path) -> tuple[str, int]:
    """Return how a folder's model pools token vectors, and their width. Raises EmbeddingFailure."""
    try:
        content = json.loads(read_file(folder / POOLING_FILE, MAX_CONFIG_BYTES))
        chosen = [kind for key, kind in POOLINGS.items() if content.get(key)]
        named = POOLING_NAMES.get(content.get("pooling_mode"))
        chosen = [named] if named else chosen
        width = int(content.get("word_embedding_dimension") or content["embedding_dimension"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbeddingFailure(
            f"{folder}: {POOLING_FILE} is needed to know how tokens become a vector: {error}",
            hint="copy that file from the published model",
        ) from None
    if len(chosen) != 1:
        raise EmbeddingFailure(
            f"{folder / POOLING_FILE}: FastEmbed supports only CLS, mean or last-token pooling",
            hint="use the provider sentence-transformers for this model",
        )
    return chosen[0], width


def open_encoder(files: IndexFiles) -> LocalQueryEncoder:
    """Load the model of an index and verify it with the probe text.

    Raises IndexUnusableError if the index was built with another model, EmbeddingFailure if the
    model cannot be loaded, and ConfigurationError for invalid settings.
    """
    dense = require_model(files, "fastembed")
    name = read_model()
    model = FastEmbedEmbeddings(name, install="pip install fastembed")
    return LocalQueryEncoder(model, files.layout, dense)
