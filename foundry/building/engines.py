"""Engines for the heavy work of a build: this machine, or a cluster of machines.

Both engines call the same functions, so that an index is the same, byte for byte, whichever made
it. What has been done is kept by the build itself, in its caches, and never by an engine.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from foundry.building.documents.recipe import Recipe
from foundry.building.documents.workers import Pool, Preparing
from foundry.building.options import BuildOptions
from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import EmbeddingModel
from foundry.errors import RequestError
from foundry.progress import Progress
from foundry.runtime.retrieval.embedding.local import available_cores


@dataclass(frozen=True, slots=True)
class Engine:
    """Runs what takes long.

    `open_pool` returns what prepares documents by a recipe, and may tell progress which of them is
    slow; `place` returns a model where it is to run, given the options that it was opened with.
    """

    open_pool: Callable[[Recipe, Progress], AbstractContextManager[Preparing]]
    place: Callable[[EmbeddingModel, EmbeddingSection], EmbeddingModel]


@contextmanager
def closing_engine(options: BuildOptions) -> Iterator[Engine]:
    """Provide the engine that was asked for, closed in the end.

    Raises RequestError where the options contradict each other.
    """
    if options.engine == "local":
        if options.ray_address is not None:
            raise RequestError("--ray-address: is for Ray only", hint="add --engine ray")
        jobs = options.jobs or available_cores()
        yield Engine(lambda recipe, progress: Pool(recipe, jobs, progress), lambda model, _: model)
        return
    # Imported when needed: few builds are for many machines.
    from foundry.building.ray.cluster import Cluster
    from foundry.building.ray.documents import RayPool
    from foundry.building.ray.embedding import place_on_nodes

    with Cluster(options.ray_address, options.jobs) as cluster:
        yield Engine(
            lambda recipe, _: nullcontext(RayPool(cluster, recipe)),
            # A service is asked from here.
            lambda model, chosen: (
                model if model.service else place_on_nodes(model, chosen, cluster)
            ),
        )
