"""The engine that runs a build on a Ray cluster."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Self

from foundry.build.documents.recipe import Recipe
from foundry.build.documents.workers import Preparing
from foundry.build.ray.cluster import Cluster
from foundry.build.ray.documents import RayPool
from foundry.build.ray.embedding import place_on_nodes
from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import EmbeddingModel


class RayEngine:
    """See `engines.Engine`; the cluster is started or joined when there is something to do."""

    def __init__(self, address: str | None, jobs: int | None) -> None:
        self._cluster = Cluster(address, jobs)

    def open_pool(self, recipe: Recipe) -> AbstractContextManager[Preparing]:
        """See `engines.Engine`."""
        return self._pool(recipe)

    def place(self, model: EmbeddingModel, options: EmbeddingSection) -> EmbeddingModel:
        """Have the nodes run a model of this machine; a service is asked from here."""
        return model if model.service else place_on_nodes(model, options, self._cluster)

    @contextmanager
    def _pool(self, recipe: Recipe) -> Iterator[Preparing]:
        yield RayPool(self._cluster, recipe)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._cluster.close()
