"""Creates the embedder that foundry.toml chooses."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from foundry.config.file import EmbeddingSection
from foundry.config.named_files import why_no_folder
from foundry.embedding.embedder import Embedder
from foundry.embedding.providers.model import EmbeddingModel
from foundry.embedding.static import StaticEmbedder
from foundry.progress import StartStep

CACHE_NAME = "cache.sqlite"


@contextmanager
def closing_embedder(
    options: EmbeddingSection,
    language: str,
    root: Path,
    state: Path,
    step: StartStep,
    place: Callable[[EmbeddingModel, EmbeddingSection], EmbeddingModel],
    *,
    weighs_by_corpus: bool = True,
) -> Iterator[Embedder | None]:
    """Yield the chosen embedder, and close it at the end; None if the provider is `none`.

    A model's path is relative to `root`; vectors are cached in `state` between builds. `place`
    decides where a model runs, once it is opened. With `weighs_by_corpus`, the built-in table
    weighs the pieces of queries by rarity.
    """
    if options.provider == "none":
        yield None
        return
    if options.provider == "static":
        yield StaticEmbedder(language, weighs_by_corpus=weighs_by_corpus)
        return
    # Imported when needed: SciPy and HTTP take longer to load than a small project takes to build.
    from foundry.embedding.model_embedder import ModelEmbedder
    from foundry.embedding.providers.batching import BatchedModel
    from foundry.embedding.providers.models import open_model
    from foundry.embedding.vector_cache import VectorCache

    if not options.base_url and why_no_folder(root / options.model) is None:
        options = options.model_copy(update={"model": str(root / options.model)})
    batched = BatchedModel(
        place(open_model(options), options),
        VectorCache(state / CACHE_NAME),
        retry_seconds=options.retry_seconds,
    )
    try:
        yield ModelEmbedder(batched, options, language, step)
    finally:
        batched.close()
