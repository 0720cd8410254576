"""A transformer embeds documents and queries, from the build to the export, with only NumPy."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project, write_project
from processes import snapshot
from servers import check_types, in_checkout, post, run_tests, serving
from tiny_transformers import write_transformer

from foundry.cli.main import main
from foundry.embedding.distil.corpus_texts import chunk_text
from foundry.embedding.providers.transformer.folder import open_transformer, read_transformer
from foundry.indexing.versions import open_index
from foundry.runtime.index.layout import Manifest

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

NOTES = {
    "pumps.md": "# Pumps\n\nThe pump leaks; seal the valve.\n",
    "air.md": "# Air\n\nFresh air passes the roof.\n",
    "water.md": "# Water\n\n" + "The pumps of the roof leak fresh water. " * 30 + "\n",
}
OPTIONS = '[embedding]\nprovider = "transformer"\nmodel = "models/{kind}"\n{more}'
UNWANTED = ("torch", "transformers", "onnxruntime", "tokenizers", "sentence_transformers", "scipy")


def make(root: Path, kind: str = "bge", more: str = 'query = "same"\n') -> Project:
    """Write a project with the files of its model, and build it."""
    project = write_project(root, NOTES, CONFIG + OPTIONS.format(kind=kind, more=more))
    write_transformer(root / "models" / kind, kind)
    project.succeed("build", "--quiet")
    return project


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that has been built and exported; not to be changed."""
    project = make(tmp_path_factory.mktemp("transformer") / "project")
    project.export()
    return project


@pytest.fixture(scope="module")
def export(exported: Project) -> Path:
    """The export of the project; not to be changed."""
    return exported.root / "dist" / "notes"


@pytest.fixture
def project(exported: Project, tmp_path: Path) -> Project:
    """A copy to change."""
    return exported.copy(tmp_path / "project")


def test_vectors_of_documents_and_queries_equal_the_models(exported: Project) -> None:
    project = exported
    dense = Manifest.read(project.index / "manifest.json").dense
    assert dense is not None
    assert (dense["provider"], dense["model"], dense["dimensions"]) == ("transformer", "bge", 16)
    assert dense["query"]["encoder"] == "same"
    assert (dense["query_prefix"], dense["document_prefix"]) == ("query: ", "")
    model = open_transformer(read_transformer(project.root / "models" / "bge"))
    embed: Any = model.embed
    answer = project.ask("the valve", "--mode", "semantic")
    assert (answer["mode"], answer["degraded"]) == ("semantic", False)
    (query,) = embed(["query: the valve"], "query")
    index = open_index(project.index)
    for hit in answer["results"]:
        (chunk,) = (
            chunk for chunk in map(index.chunk, range(index.chunk_count)) if chunk.id == hit["id"]
        )
        (document,) = embed([chunk_text(chunk)], "document")
        assert hit["scores"]["semantic"] == pytest.approx(float(query @ document), abs=0.01)
    assert answer["results"]


def test_cached_vectors_are_reused_and_give_the_same_bytes(project: Project) -> None:
    before = snapshot(project.index)
    again = json.loads(project.succeed("build", "--json", "--quiet").stdout)
    assert again["changes"]["embedded"] == 0
    (project.root / "sources" / "new.md").write_text("# New\n\nA roof.\n")
    changed = json.loads(project.succeed("build", "--json", "--quiet").stdout)
    assert changed["changes"]["embedded"] > 0
    (project.root / "sources" / "new.md").unlink()
    back = json.loads(project.succeed("build", "--json", "--quiet").stdout)
    assert back["changes"]["embedded"] == 0
    assert snapshot(project.index) == before


def test_other_weights_are_another_model(project: Project) -> None:
    write_transformer(project.root / "models" / "e5", "e5")
    config = project.root / "foundry.toml"
    config.write_text(config.read_text().replace("models/bge", "models/e5"))
    built = json.loads(project.succeed("build", "--json", "--quiet").stdout)
    assert built["changes"]["embedded"] > 0
    dense = Manifest.read(project.index / "manifest.json").dense
    assert dense is not None
    assert (dense["model"], dense["document_prefix"]) == ("e5", "passage: ")


def test_export_answers_over_http_as_the_project_does(exported: Project, export: Path) -> None:
    expected = exported.ask("who seals the valve")
    assert (export / "notes" / "data" / "encoder" / "transformer.npy").is_file()
    assert "transformer" in (export / "README.md").read_text(encoding="utf-8")
    needed = (export / "pyproject.toml").read_text(encoding="utf-8")
    assert not [name for name in UNWANTED if f'"{name}' in needed]
    with serving(in_checkout(export)) as base:
        for _ in range(2):
            answer = post(f"{base}/search", {"query": "who seals the valve"})
            assert {**answer, "took_ms": 0} == {**expected, "took_ms": 0}


def test_export_is_verified_and_updated(project: Project) -> None:
    exported = project.root / "dist" / "notes"
    for command in ("verify", "update", "verify"):
        result = CliRunner().invoke(main, [command, str(exported)])
        assert result.exit_code == 0, result.output
    weights = exported / "notes" / "data" / "encoder" / "transformer.npy"
    weights.write_bytes(weights.read_bytes()[:-2] + b"\0\0")
    result = CliRunner().invoke(main, ["verify", str(exported)])
    assert result.exit_code == 1
    assert "transformer.npy" in result.output


def test_server_needs_only_numpy(export: Path) -> None:
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({UNWANTED!r}))\n"
        "from notes import load, search_hybrid\n"
        "load(); print(search_hybrid('the valve').mode)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=export, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "hybrid", done.stderr


def test_other_weights_than_the_indexs_are_refused(project: Project) -> None:
    folder = project.index / "encoder"
    weights = np.load(folder / "transformer.npy")
    weights[: len(weights) // 2] *= -1
    np.save(folder / "transformer.npy", weights)
    result = project.run("query", "valve")
    assert result.exit_code == 1
    assert "transformer.npy" in result.output


def test_auto_reports_its_choice_with_the_reason(tmp_path: Path) -> None:
    project = make(tmp_path / "project", "minilm", "distillation_texts = 100\n")
    reason = "the corpus is too small to compare the trained table with its teacher"
    shown = project.succeed("inspect").stdout
    assert f"queries: distilled: {reason}" in shown
    exported = project.export()
    assert not (exported / "notes" / "retrieval" / "embedding").exists()
    assert not (exported / "notes" / "data" / "encoder" / "transformer.npy").exists()


def test_missing_model_is_named(make_project: MakeProject) -> None:
    project = make_project(NOTES, config=CONFIG + OPTIONS.format(kind="none", more=""))
    result = project.run("build", "--quiet")
    assert result.exit_code == 1
    assert "nor an installed distribution with one model" in result.output


@pytest.mark.slow
def test_export_passes_its_own_checks(export: Path) -> None:
    check_types(export)
    run_tests(export, "test_[is]*.py")
