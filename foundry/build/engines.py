"""Engines for the heavy work of a build: this machine, or a cluster of machines.

Both engines call the same functions, so that an index is the same, byte for byte, whichever made
it. What has been done is kept by the build itself, in its caches, and never by an engine.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from foundry.build.documents.recipe import Recipe
from foundry.build.documents.workers import Pool, Preparing, available_cores
from foundry.build.request import BuildOptions
from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import EmbeddingModel
from foundry.errors import RequestError


class Engine(Protocol):
    """Runs what takes long."""

    def open_pool(self, recipe: Recipe) -> AbstractContextManager[Preparing]:
        """Return what prepares documents by a recipe."""
        ...

    def place(self, model: EmbeddingModel, options: EmbeddingSection) -> EmbeddingModel:
        """Return the model, where it is to run; `options` are those that it was opened by."""
        ...


class LocalEngine:
    """Worker processes of this machine; models run in this process."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def open_pool(self, recipe: Recipe) -> AbstractContextManager[Preparing]:
        """See `Engine`."""
        return Pool(recipe, self._jobs)

    def place(self, model: EmbeddingModel, options: EmbeddingSection) -> EmbeddingModel:
        """See `Engine`."""
        del options
        return model


@contextmanager
def closing_engine(options: BuildOptions) -> Iterator[Engine]:
    """Provide the engine that was asked for, closed in the end.

    Raises RequestError where the options contradict each other.
    """
    if options.engine == "local":
        if options.ray_address is not None:
            raise RequestError("--ray-address: is for Ray only", hint="add --engine ray")
        yield LocalEngine(options.jobs or available_cores())
        return
    # Imported when needed: few builds are for many machines.
    from foundry.build.ray.engine import RayEngine

    with RayEngine(options.ray_address, options.jobs) as engine:
        yield engine
