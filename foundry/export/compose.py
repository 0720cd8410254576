"""Composes the files of an export: the server, its locks and its bills of materials."""

import ast
from collections.abc import Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

import foundry
from foundry.errors import RenderError
from foundry.evaluation.asking import record_figures
from foundry.export.basis import Basis
from foundry.export.bills import CORPUS, SBOM, format_corpus, format_sbom
from foundry.export.lock import format_lock, format_requirements, read_asked, select_packages
from foundry.export.resolution import Resolution
from foundry.export.write import Export
from foundry.features.stores import StoreSection
from foundry.files import templates_folder
from foundry.rendering.design import Design
from foundry.rendering.explain import explain_files
from foundry.rendering.plan import plan_server
from foundry.runtime.store.store import HELD_FILES, RECORD_FILES

LOCK = "uv.lock"
"""Name of two lock files: the templates' lock for all servers, and each server's own."""

REQUIREMENTS = "requirements.txt"


def compose_export(basis: Basis) -> Export:
    """Return all files of an export."""
    design, index, questions = basis.design, basis.index, basis.questions
    config, package = design.config, design.config.package
    files = plan_server(design, questions, config.templates)
    if questions is not None:
        measured = files if config.store.is_embedded else _plan_embedded(design, questions)
        files[f"{package}/figures.json"] = record_figures(design, measured, index)
    files |= _bills(config.project.name, package, files, index)
    left_out = frozenset() if config.store.is_embedded else HELD_FILES
    if config.store.has_records:
        left_out |= RECORD_FILES
    return Export(dict(sorted(files.items())), index, f"{package}/data", left_out)


def _plan_embedded(design: Design, questions: bytes) -> dict[str, bytes]:
    """Return the same server with the embedded index, for evaluation.

    It gives the same answers as the server with an engine.
    """
    config = design.config
    embedded = design.varied(config.model_copy(update={"store": StoreSection()}))
    return plan_server(embedded, questions, config.templates, with_tests=False)


def explain_export(basis: Basis, export: Export) -> dict[str, str]:
    """Return the reason for every file of an export; the index counts as one."""
    said = explain_files(basis.design, export.all_files())
    return {**said, f"{export.index_place}/": "the latest index"}


def _bills(name: str, package: str, files: Mapping[str, bytes], index: Path) -> dict[str, bytes]:
    """Return the lock files and bills of materials. Raises RenderError."""
    path = templates_folder() / LOCK
    try:
        resolution = Resolution(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = "install Foundry again"
        raise RenderError(f"{path}: cannot be read: {error.strerror}", hint=hint) from None
    asked = read_asked(files["pyproject.toml"])
    selected = select_packages(resolution, asked)
    roots = [canonicalize_name(requirement.name) for requirement in asked.requirements[""]]
    version = _version(files[f"{package}/__init__.py"])
    return {
        LOCK: format_lock(resolution, asked),
        REQUIREMENTS: format_requirements(selected),
        SBOM: format_sbom(name, version, roots, selected, foundry.__version__),
        CORPUS: format_corpus(index),
    }


def _version(module: bytes) -> str:
    for node in ast.parse(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__":
            return str(ast.literal_eval(node.value))
    raise RenderError("the package's __init__.py does not define __version__")
