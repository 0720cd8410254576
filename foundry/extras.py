"""What Foundry needs beyond its own dependencies: which extra of it for what is configured.

A command asks for all of it before it renders, builds or writes anything. An exported server
declares what it needs itself; asked for here is only what runs on Foundry's side.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from foundry.config import Config
from foundry.errors import MissingExtraError

DISTRIBUTION = "rag-foundry"


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that may be chosen, as the user wrote it, and what it takes.

    Attributes:
        written: How it is chosen.
        extra: Of Foundry, which brings the modules.
        modules: Names that must be importable.
    """

    written: str
    extra: str
    modules: tuple[str, ...]


FEATURES = {
    feature.extra: feature
    for feature in (
        Feature(
            '[embedding] provider = "sentence-transformers"',
            "sentence-transformers",
            ("sentence_transformers",),
        ),
        Feature('[embedding] provider = "fastembed"', "fastembed", ("fastembed",)),
        Feature('[store] engine = "pgvector"', "pgvector", ("psycopg", "psycopg_pool")),
        Feature('[store] engine = "qdrant"', "qdrant", ("qdrant_client",)),
        Feature("[search.rerank]", "rerank", ("onnxruntime", "tokenizers")),
        Feature("--engine ray", "ray", ("ray",)),
        Feature("[embedding] with a model", "models", ("scipy",)),
        Feature('[build] duplicates = "near"', "near", ("datasketch",)),
    )
}
"""By the name of the extra, which is that of the provider or engine, too."""


def require(names: Iterable[str]) -> None:
    """Raise MissingExtraError if a module is missing; names that are no feature need none."""
    lacking = {
        feature: missing
        for feature in (FEATURES[name] for name in dict.fromkeys(names) if name in FEATURES)
        if (missing := [module for module in feature.modules if not _is_there(module)])
    }
    if not lacking:
        return
    needs = [f"{feature.written} needs {' and '.join(lacking[feature])}" for feature in lacking]
    are = "is" if sum(map(len, lacking.values())) == 1 else "are"
    extras = ",".join(feature.extra for feature in lacking)
    raise MissingExtraError(
        f"{', and '.join(needs)}, which {are} not installed:"
        f" pip install '{DISTRIBUTION}[{extras}]'"
    )


def of_build(config: Config, engine: str) -> Iterator[str]:
    """Yield the features of a build that `engine` runs."""
    yield config.embedding.provider
    if config.embedding.provider not in {"static", "none"}:
        yield "models"
    if config.build.duplicates == "near":
        yield "near"
    yield engine


def of_server(config: Config, kind: str) -> Iterator[str]:
    """The features of a server that is to search here; `kind` is that of its query encoder."""
    if kind == "model":
        yield config.embedding.provider
    yield config.store.engine
    if "rerank" in config.stages:
        yield "rerank"


def of_figures(config: Config, kind: str) -> Iterator[str]:
    """Those of a server whose figures travel with its export; see `asking.record_figures`."""
    if kind not in {"model", "service"} and "rerank" in config.stages:
        yield "rerank"


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
