"""Composes the export of an index: the server's files, locks and bills of materials."""

import ast
from pathlib import Path

from packaging.utils import canonicalize_name

import foundry
from foundry.config.extras import of_figures, require
from foundry.config.project import Config
from foundry.config.sources import CONFIG_NAME
from foundry.errors import IndexUnusableError, RenderError, TrustError
from foundry.evaluation.asking import record_figures
from foundry.evaluation.questions import askable_lines, read_questions
from foundry.evaluation.run import own_questions
from foundry.export.bills import CORPUS, SBOM, format_corpus, format_sbom
from foundry.export.lock import format_lock, format_requirements, read_asked, select_packages
from foundry.export.resolution import Resolution
from foundry.export.write import Export
from foundry.features.stores import StoreSection
from foundry.files import templates_folder
from foundry.indexing.versions import (
    built_index,
    check_index,
    check_numbers,
    open_index,
    refuse_stale,
)
from foundry.rendering.explain import explain_files
from foundry.rendering.plan import choose_features, choose_steps, plan_server
from foundry.rendering.query_encoder import choose_query_encoder
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.stages.expansion import open_words
from foundry.runtime.store.store import HELD_FILES

LOCK = "uv.lock"
"""The name of two locks: of all that servers depend on, in the templates, and of one server."""

REQUIREMENTS = "requirements.txt"


def compose_export(config: Config, *, trust: bool, stale: bool) -> Export:
    """Return everything that the export of a project's current index consists of.

    The index is opened as its server will do. Raises StaleIndexError if it is not the one that
    foundry.toml asks for and `stale` is not given, TrustError if the project has templates of its
    own and `trust` is not given.
    """
    index = built_index(config)
    manifest = check_index(index, config.root)
    if not stale:
        refuse_stale(config, manifest)
    query_encoder = choose_query_encoder(config, manifest)
    # An index of other options or versions is refused here.
    opened = open_index(index, vectors=query_encoder.kind == "pieces")
    _check_search_options(config, opened)
    file = own_questions(config)
    # What is wrong with them is said with the line of this file, not of the export's copy.
    asked = None if file is None else read_questions(file)
    questions = None if file is None else askable_lines(file)
    if asked is not None:
        require(of_figures(config, query_encoder.kind))
    if config.templates is not None and not trust:
        raise TrustError(
            f"{config.root / CONFIG_NAME}: export.templates: the templates in {config.templates}"
            " are code that runs on this machine",
            hint="read them, then pass --trust",
        )
    check_numbers(index)
    files = plan_server(config, query_encoder, questions, templates=config.templates)
    if asked is not None:
        measured = files
        if not config.store.is_embedded:
            # An export needs no engine: the answers are the same without one.
            embedded = config.model_copy(update={"store": StoreSection()})
            measured = plan_server(
                embedded, query_encoder, questions, config.templates, with_tests=False
            )
        figures = record_figures(config, query_encoder, measured, index)
        files[f"{config.package}/figures.json"] = figures
    files |= _bills(config, files, index)
    left_out = frozenset() if config.store.is_embedded else HELD_FILES
    return Export(dict(sorted(files.items())), index, f"{config.package}/data", left_out)


def explain_export(config: Config, export: Export) -> dict[str, str]:
    """Say of every file of an export, but those of the index, what brought it."""
    query_encoder = choose_query_encoder(config, check_index(export.index, config.root))
    features = choose_features(config, query_encoder)
    said = explain_files(
        features,
        choose_steps(config, query_encoder),
        config.package,
        config.project.name,
        export.all_files(),
    )
    return {**said, f"{export.index_place}/": "the index that was built last"}


def _check_search_options(config: Config, index: Index) -> None:
    if missing := set(config.index.filterable) - set(index.part(FilterColumns).columns):
        raise IndexUnusableError(
            f"{index.layout.root}: cannot be filtered by {', '.join(sorted(missing))}",
            hint=f"build it again: {config.build_command}",
        )
    if "expansion" in config.stages:
        open_words(index)


def _bills(config: Config, files: dict[str, bytes], index: Path) -> dict[str, bytes]:
    """Return what the code needs and what the index was made from: locks and bills of materials."""
    path = templates_folder() / LOCK
    try:
        resolution = Resolution(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RenderError(f"{path}: cannot be read: {error.strerror}") from None
    asked = read_asked(files["pyproject.toml"])
    selected = select_packages(resolution, asked)
    roots = [canonicalize_name(requirement.name) for requirement in asked.requirements[""]]
    version = _version(files[f"{config.package}/__init__.py"])
    return {
        LOCK: format_lock(resolution, asked),
        REQUIREMENTS: format_requirements(selected),
        SBOM: format_sbom(config.project.name, version, roots, selected, foundry.__version__),
        CORPUS: format_corpus(index),
    }


def _version(module: bytes) -> str:
    for node in ast.parse(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return str(ast.literal_eval(node.value))
    raise RenderError("the package's __init__.py states no __version__")
