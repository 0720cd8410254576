"""Runs the documents' embedding model in the server, to embed queries."""

import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import IndexUnusableError
from ...index.layout import IndexLayout
from ...settings import SETTINGS_FILE, read_variable, reading
from ..timing import stage
from .probe import DenseManifest, find_difference
from .recent import RecentVectors
from .replies import EmbeddingFailure

_logger = logging.getLogger(__name__)


class LocalModel(Protocol):
    """A loaded model."""

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"]
    ) -> NDArray[np.float32]:
        """Return unit vectors (n, d) of texts. Raises EmbeddingFailure."""
        ...


class LocalQueryEncoder:
    """Runs a model on queries, `at_a_time` at once; threads can share one."""

    def __init__(
        self, model: LocalModel, layout: IndexLayout, dense: DenseManifest, *, at_a_time: int = 1
    ) -> None:
        """Verify the model with the probe text. Raises IndexUnusableError for another model."""
        self._model = model
        self._query_prefix = dense.query_prefix
        self._slots = threading.Semaphore(at_a_time)
        self._recent = RecentVectors()
        difference = find_difference(self._run(dense.probe_text), dense)
        if difference is not None:
            raise IndexUnusableError(
                f"{layout.root}: built with {dense.provider} model {dense.model!r}, but a different"
                f" model is installed under this name: the probe text's vector {difference}",
                hint="install the model that the index was built with, or rebuild the index",
            )

    @stage("encode")
    def encode(self, text: str) -> NDArray[np.float32] | None:
        """Return the unit vector (d,) of a query; None if the model fails."""
        vector = self._recent.get(text)
        if vector is None:
            try:
                vector = self._run(text)
            except EmbeddingFailure as failure:
                _logger.warning("a query could not be embedded: %s", failure.message)
                return None
            self._recent.put(text, vector)
        return vector

    def _run(self, text: str) -> NDArray[np.float32]:
        with self._slots:
            vectors = self._model.embed([self._query_prefix + text], "query")
        vector: NDArray[np.float32] = vectors[0]
        return vector


def available_cores() -> int:
    """Return the number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_model(file: Path = SETTINGS_FILE) -> str:
    """Return the name or folder of the query model. Raises ConfigurationError."""
    with reading(file) as values:
        return read_variable("EMBEDDING_MODEL") or str(values["embedding"]["model"])


def find_folder(model: str) -> Path | None:
    """Return the folder of a model given by path; None for the name of a published model.

    Raises:
        EmbeddingFailure: The path is not a folder.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    if path.is_absolute() or model.startswith((".", "~")):
        raise EmbeddingFailure(
            f"{model}: no such folder", hint="set embedding.model to a model's name or folder"
        )
    return None


def unusable(model: str, error: Exception) -> EmbeddingFailure:
    """Return the error for a model that cannot be loaded, with the first line of the cause."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
    return EmbeddingFailure(
        f"the model {model!r} cannot be loaded: {reason}",
        hint="check embedding.model; a name needs network access once, a folder never",
    )
