"""Runs a local model on the nodes of a cluster.

This process loads the model too, for its tokenizer and batching; all vectors go to this project's
cache. A call uses all processors of a node, as on a single machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.building.documents.programs import program_hash
from foundry.building.ray.cluster import Cluster, Reference
from foundry.building.ray.tasks import check_installation, embed_batch
from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import EmbeddingModel, Side
from foundry.embedding.providers.models import list_model_files
from foundry.runtime.retrieval.embedding.local import find_folder
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

CONCURRENT_CALLS = 64
"""Calls in progress; each node runs one at a time."""


def place_on_nodes(
    model: EmbeddingModel, options: EmbeddingSection, cluster: Cluster
) -> EmbeddingModel:
    """Wrap a local model so that the nodes of a cluster run it."""
    nodes = _Nodes(model.revision, options, cluster)
    limits = replace(model.limits, calls=CONCURRENT_CALLS)
    return replace(model, limits=limits, embed=nodes.embed)


class _Nodes:
    """Nodes that run one model."""

    def __init__(self, revision: str, options: EmbeddingSection, cluster: Cluster) -> None:
        self._revision = revision
        self._options = options
        self._cluster = cluster
        self._folder = find_folder(options.model)
        self._files: Reference | None = None
        self._processors = 0

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Return unit vectors (n, d). Raises EmbeddingFailure, or BuildError if a node fails."""
        # All nodes use the same number of processors, because rounding depends on it.
        self._processors = self._processors or self._cluster.least_processors()
        answer = check_installation(
            self._cluster.get(
                self._cluster.submit(
                    embed_batch,
                    program_hash(),
                    self._options.model_dump(exclude_defaults=True),
                    self._revision,
                    self._shipped(),
                    list(texts),
                    side,
                    processors=self._processors,
                    threads=self._processors,
                )
            )
        )
        if isinstance(answer, tuple):
            message, hint = answer
            raise EmbeddingFailure(message, hint=hint)
        vectors: NDArray[np.float32] = answer
        return vectors

    def _shipped(self) -> list[Reference] | None:
        """Return references to the files of a model, for the nodes; None if it has no folder."""
        if self._folder is None:
            return None
        if self._files is None:
            self._files = self._cluster.put(_read_all(self._folder))
        # References are in a list, because Ray would fetch bare ones before each call.
        return [self._files]


def _read_all(folder: Path) -> Mapping[str, Any]:
    return {name: path.read_bytes() for name, path in list_model_files(folder)}
