"""Finds the extras of Foundry that a configuration needs.

Commands check for them before they render, build or write anything. An exported server declares its
own dependencies; this only checks what runs inside Foundry.
"""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from foundry.config.project import Config
from foundry.errors import MissingExtraError, install_command
from foundry.features.contributions import every_feature
from foundry.features.providers import PROVIDERS

EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{each.name: (each.chosen_by(), each.modules) for each in every_feature() if each.modules},
    "ray": ("--engine ray", ("ray",)),
    "models": ("[embedding] with a model", ("scipy",)),
    "server": (
        "foundry serve",
        ("fastapi", "httptools", "mcp", "opentelemetry", "prometheus_client", "uvicorn"),
    ),
    "watch": ("building after each change", ("watchfiles",)),
    "ocr": ("[[sources]] with ocr", ("rapidocr", "onnxruntime")),
    "near": ('[build] duplicates = "near"', ("datasketch",)),
}
"""Extra -> how its feature is chosen, and the modules that it needs."""

INSTEAD = {
    "sentence-transformers": (
        'provider = "transformer" runs models of the BERT family from a folder; it only needs numpy'
    )
}
"""Alternatives to an extra; users must choose them, since the vectors differ slightly."""


def require(names: Iterable[str]) -> None:
    """Raise MissingExtraError if a module for one of the features is missing.

    Names that are not in EXTRAS need no modules.
    """
    lacking = {
        name: missing
        for name in dict.fromkeys(names)
        if name in EXTRAS and (missing := [each for each in EXTRAS[name][1] if not _is_there(each)])
    }
    if not lacking:
        return
    needs = [
        f"{EXTRAS[name][0]} needs {' and '.join(missing)}" for name, missing in lacking.items()
    ]
    are = "is" if sum(map(len, lacking.values())) == 1 else "are"
    raise MissingExtraError(
        f"{', and '.join(needs)}, which {are} not installed: {install_command(*lacking)}",
        hint="; ".join(INSTEAD[name] for name in lacking if name in INSTEAD) or None,
    )


def of_build(config: Config, engine: str) -> Iterator[str]:
    """Yield the features that a build with `engine` runs."""
    yield config.embedding.provider
    if PROVIDERS[config.embedding.provider].asks_model:
        yield "models"
    if config.build.duplicates == "near":
        yield "near"
    if any(getattr(source, "ocr", False) for source in config.sources):
        yield "ocr"
    yield engine


def of_server(config: Config, kind: str) -> Iterator[str]:
    """Yield the features that a server needs to run in Foundry.

    `kind` is the kind of its query encoder.
    """
    if kind == "model":
        yield config.embedding.provider
    yield config.store.engine
    yield from config.stages


def of_figures(config: Config, kind: str) -> Iterator[str]:
    """Yield the features that an export's evaluation needs; see `asking.record_figures`.

    If a model or a service embeds queries, only keyword search is evaluated, and no extra is
    required.
    """
    if kind not in {"model", "service"}:
        yield from config.stages


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
