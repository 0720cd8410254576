"""A cross-encoder: scores each passage together with the query, with ONNX Runtime.

A model's folder contains `tokenizer.json` and `model.onnx` or `onnx/model.onnx`, as published for
Sentence Transformers (Nogueira and Cho 2019, Passage Re-ranking with BERT).
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
MAX_TOKENS = 512  # Tokens of query and passage together, unless the model's limit is lower.
PADDING_TOKENS = ("[PAD]", "<pad>", "<|pad|>", "<|padding|>")
_rerankers: dict[int, Reranker] = {}
"""The reranker of each process, by process id."""

INSTALL = (
    "install the reranking packages: pip install 'onnxruntime>=1.20,<2' 'tokenizers>=0.21,<0.24'"
)


class CrossEncoder:
    """A loaded model; threads can share one."""

    def __init__(self, model: str) -> None:
        """Load a model from a folder, or by its name on the Hugging Face Hub.

        A name needs network access once. Raises ConfigurationError if packages or the model are
        missing, or if it is not a cross-encoder.
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
                f"{folder}: no cross-encoder in this folder",
                hint=f"it must contain {TOKENIZER} and {' or '.join(NETWORKS)}",
            )
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
            self._session = onnxruntime.InferenceSession(
                str(network), providers=["CPUExecutionProvider"]
            )
            self._tokenizer.enable_truncation(_max_tokens(folder))
            self._tokenizer.enable_padding(**self._padding(folder))
        except Exception as error:
            # The exceptions of these libraries have no common base class.
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

    One logit per passage goes through a sigmoid, two ("no", "yes") through a softmax, which equals
    the sigmoid of their difference. Raises ValueError for anything else.
    """
    if logits.shape == (count, 2):
        logits = logits[:, 1] - logits[:, 0]
    if logits.size != count or not np.isfinite(logits).all():
        raise ValueError(f"scores of shape {logits.shape} for {count} passages, or not finite")
    # Equal to 1 / (1 + exp(-x)), without overflow.
    probabilities: NDArray[np.float64] = 0.5 * (1.0 + np.tanh(0.5 * logits.reshape(count)))
    return probabilities


def _import(name: str) -> Any:
    # Imported by name: the packages are optional, and some are not typed.
    return import_module(name)


def _find_folder(model: str) -> Path:
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or model.startswith((".", "~")):
        raise ConfigurationError(
            f"{model}: no such folder", hint="set RERANK_MODEL if the folder has moved"
        )
    try:
        # huggingface_hub is a dependency of tokenizers.
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
        hint="check RERANK_MODEL; a name needs network access once, a folder never",
    )


def read_model(file: Path = SETTINGS_FILE) -> str:
    """Return the name or folder of the reranking model. Raises ConfigurationError."""
    with reading(file) as values:
        return read_variable("RERANK_MODEL") or str(values["rerank"]["model"])


def reranker() -> Reranker:
    """Return the reranker of this process. It runs one query at a time, which uses every core."""
    # Each worker has its own: a model's threads do not survive a fork, and freeing the parent's
    # model would wait for them forever. Warming and serving threads share it.
    process = os.getpid()
    return _rerankers.get(process) or _rerankers.setdefault(
        process, Reranker(lambda: _warmed(CrossEncoder(read_model())))
    )


def _warmed(model: CrossEncoder) -> CrossEncoder:
    # The first run allocates and plans, which takes several times as long.
    model.score("", [""])
    return model


def warm_if_wanted() -> None:
    """Load the model now if RERANK_WARM is 1."""
    if os.environ.get("RERANK_WARM", "").strip() == "1":
        reranker().warm()


def _warm_worker() -> None:
    threading.Thread(target=warm_if_wanted, name="warm reranker", daemon=True).start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_warm_worker)
