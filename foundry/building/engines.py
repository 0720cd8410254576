"""Engines for the heavy work of a build: this machine, or a cluster.

Both call the same functions, so they make identical indexes. The build caches results; engines do
not.
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
    """Runs the expensive work of a build.

    `open_pool` returns a pool that prepares documents with a recipe and may report slow ones;
    `place` moves a model to where it will run, given the options that it was opened with.
    """

    open_pool: Callable[[Recipe, Progress], AbstractContextManager[Preparing]]
    place: Callable[[EmbeddingModel, EmbeddingSection], EmbeddingModel]


@contextmanager
def closing_engine(options: BuildOptions) -> Iterator[Engine]:
    """Open the chosen engine, and close it at the end.

    Raises RequestError for contradictory options.
    """
    if options.engine == "local":
        if options.ray_address is not None:
            raise RequestError("--ray-address: needs Ray", hint="add --engine ray")
        jobs = options.jobs or available_cores()
        yield Engine(lambda recipe, progress: Pool(recipe, jobs, progress), lambda model, _: model)
        return
    # Imported when needed: few builds use a cluster.
    from foundry.building.ray.cluster import Cluster
    from foundry.building.ray.documents import RayPool
    from foundry.building.ray.embedding import place_on_nodes

    with Cluster(options.ray_address, options.jobs) as cluster:
        yield Engine(
            lambda recipe, _: nullcontext(RayPool(cluster, recipe)),
            # Embedding services are called from this machine.
            lambda model, chosen: (
                model if model.service else place_on_nodes(model, chosen, cluster)
            ),
        )
