"""A cross-encoder: scores a query and a passage read together, by ONNX Runtime.

A model's folder has `tokenizer.json` and `model.onnx`, or `onnx/model.onnx`, like published models
for Sentence Transformers (Nogueira and Cho 2019, Passage Re-ranking with BERT).
"""

import json
import os
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError
from ...index.tree import read_file
from ...settings import SETTINGS_FILE, read_variable, reading
from .rerank import Reranker

NETWORKS = ("model.onnx", "onnx/model.onnx")
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"
MAX_CONFIG_BYTES = 1_000_000
MAX_TOKENS = 512  # Of query and passage together, unless the model's limit is lower.
PADDING_TOKENS = ("[PAD]", "<pad>", "<|pad|>", "<|padding|>")
_rerankers: dict[int, Reranker] = {}
"""By process."""

INSTALL = (
    "install what reranking needs: pip install 'onnxruntime>=1.20,<2' 'tokenizers>=0.21,<0.24'"
)


class CrossEncoder:
    """A loaded model, which threads can share."""

    def __init__(self, model: str) -> None:
        """Load a model from a folder, or by its name on the Hugging Face Hub.

        A name needs the network once. Raises ConfigurationError if packages or the model are
        missing, or it is no cross-encoder.
        """
        try:
            onnxruntime, tokenizers = _import("onnxruntime"), _import("tokenizers")
        except ImportError as error:
            raise ConfigurationError(
                f"the reranking model needs another package: {error}", hint=INSTALL
            ) from None
        folder = _find_folder(model)
        network = next((folder / name for name in NETWORKS if (folder / name).is_file()), None)
        if network is None or not (folder / TOKENIZER).is_file():
            raise ConfigurationError(
                f"{folder}: holds no cross-encoder",
                hint=f"it must hold {TOKENIZER} and {' or '.join(NETWORKS)}",
            )
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
            self._session = onnxruntime.InferenceSession(
                str(network), providers=["CPUExecutionProvider"]
            )
            self._tokenizer.enable_truncation(_max_tokens(folder))
            self._tokenizer.enable_padding(**self._padding(folder))
        except Exception as error:
            # The exceptions of both libraries have no common base class.
            raise _unusable(folder, error) from None
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability (n,) that each passage (n,) answers the query.

        Raises ValueError for invalid output, and any error of ONNX Runtime.
        """
        encoded = self._tokenizer.encode_batch([(query, passage) for passage in passages])
        known = {
            "input_ids": [entry.ids for entry in encoded],
            "attention_mask": [entry.attention_mask for entry in encoded],
            "token_type_ids": [entry.type_ids for entry in encoded],
        }
        inputs = {
            name: np.array(values, dtype=np.int64)
            for name, values in known.items()
            if name in self._inputs
        }
        logits = np.asarray(self._session.run(None, inputs)[0], dtype=np.float64)
        return to_probabilities(logits, len(passages))

    def _padding(self, folder: Path) -> dict[str, Any]:
        chosen = self._tokenizer.padding
        if chosen:
            return {key: chosen[key] for key in ("pad_id", "pad_type_id", "pad_token")}
        for token in PADDING_TOKENS:
            number = self._tokenizer.token_to_id(token)
            if number is not None:
                return {"pad_id": number, "pad_token": token}
        number = int(_read_config(folder).get("pad_token_id") or 0)
        return {"pad_id": number, "pad_token": self._tokenizer.id_to_token(number)}


def to_probabilities(logits: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Convert the output of a model to probabilities (n,) of relevance.

    One number per passage is passed through a sigmoid, two ("no", "yes") through a softmax, which
    is the sigmoid of their difference. Raises ValueError for anything else.
    """
    if logits.shape == (count, 2):
        logits = logits[:, 1] - logits[:, 0]
    if logits.size != count or not np.isfinite(logits).all():
        raise ValueError(f"scores of shape {logits.shape} for {count} passages, or not finite")
    # Equal to 1 / (1 + exp(-x)), without overflow.
    probabilities: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(0.5 * logits.reshape(count)))
    return probabilities


def _import(name: str) -> Any:
    # By name: the packages are optional, and not all of them are typed.
    return import_module(name)


def _find_folder(model: str) -> Path:
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or model.startswith((".", "~")):
        raise ConfigurationError(
            f"{model}: no such folder", hint="RERANK_MODEL may name the folder if it has moved"
        )
    try:
        # A dependency of tokenizers.
        download = _import("huggingface_hub").snapshot_download
        return Path(download(model, allow_patterns=[TOKENIZER, CONFIG, *NETWORKS]))
    except Exception as error:
        raise _unusable(path, error) from None


def _max_tokens(folder: Path) -> int:
    positions = _read_config(folder).get("max_position_embeddings")
    return min(MAX_TOKENS, positions) if isinstance(positions, int) else MAX_TOKENS


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads(read_file(folder / CONFIG, MAX_CONFIG_BYTES))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _unusable(folder: Path, error: Exception) -> ConfigurationError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
    return ConfigurationError(
        f"the reranking model {str(folder)!r} cannot be loaded: {reason}",
        hint="check RERANK_MODEL; a name needs the network once, a folder never",
    )


def read_model(file: Path = SETTINGS_FILE) -> str:
    """Return the name or the folder of the reranking model. Raises ConfigurationError."""
    with reading(file) as values:
        return read_variable("RERANK_MODEL") or str(values["rerank"]["model"])


def reranker() -> Reranker:
    """Return the reranker of this process, which runs one query at a time: each uses every core."""
    # One per worker: the threads of a model do not survive a fork, and freeing the parent's would
    # wait for them for ever. Threads share it, and so does one that warms it.
    process = os.getpid()
    return _rerankers.get(process) or _rerankers.setdefault(
        process, Reranker(lambda: _warmed(CrossEncoder(read_model())))
    )


def _warmed(model: CrossEncoder) -> CrossEncoder:
    # The first run allocates and plans, so it takes several times as long.
    model.score("", [""])
    return model


def warm_if_wanted() -> None:
    """Load the model now, if RERANK_WARM is 1."""
    if os.environ.get("RERANK_WARM", "").strip() == "1":
        reranker().warm()


def _warm_worker() -> None:
    threading.Thread(target=warm_if_wanted, name="warm reranker", daemon=True).start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_warm_worker)
