"""An export uses the index it started with, even if another one is published in between."""

import pytest
from conftest import MakeProject

from foundry.config.project import load_config
from foundry.export.basis import Basis
from foundry.export.compose import compose_export, explain_export
from foundry.runtime.index.layout import Manifest


@pytest.mark.usefixtures("formatted_once")
def test_an_export_has_the_index_version_that_was_current_at_its_start(
    make_project: MakeProject,
) -> None:
    project = make_project({"a.md": "# Seals\nEvery 400 hours."})
    project.succeed("build")
    config = load_config(project.root)
    basis = Basis.of(config, trust=False, stale=False)
    (project.root / "sources" / "b.md").write_text("# Valves\nOpen.")
    project.succeed("build")
    assert Basis.of(config, trust=False, stale=False).index != basis.index
    export = compose_export(basis)
    assert export.index == basis.index
    assert Manifest.read(export.index / "manifest.json").documents == 1
    assert b'"b.md"' not in export.files["corpus.json"]
    reasons = explain_export(basis, export)
    assert reasons[f"{export.index_place}/"] == "the latest index"
