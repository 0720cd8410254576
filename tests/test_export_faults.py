"""An export that fails or is killed at any point leaves a complete export, old or new."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import MakeProject, Project
from faults import EVERY_FAULT, FAULTS, each_fault
from processes import leftovers, snapshot

from foundry.cli.main import main
from foundry.config.project import load_config
from foundry.export.checksums import compare
from foundry.features.providers import PROVIDERS
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_server

pytestmark = pytest.mark.usefixtures("formatted_once")

NOTE = {"note.md": "# Seals\n\nReplace the D40 seal yearly.\n"}


@pytest.fixture
def built(make_project: MakeProject) -> Project:
    project = make_project(NOTE)
    project.succeed("build", "--quiet")
    return project


def check_faults(project: Project, fault: str, step: int) -> int:
    """Fail exports at every `step`-th change, one export each; returns the number of faults."""
    target = project.root / "dist" / "notes"
    planned = plan_server(Design.of(load_config(project.root), PROVIDERS["static"]), None)

    def export() -> tuple[int, str]:
        import foundry.export.compose

        # The files are planned once: planning writes nothing, and its formatting takes longer than
        # the rest.
        foundry.export.compose.plan_server = lambda *_, **__: planned
        result = CliRunner().invoke(main, ["export", str(project.root)])
        return (result.exit_code if isinstance(result.exception, SystemExit | None) else 98), (
            result.output
        )

    project.export()
    old = snapshot(target)
    (project.root / "sources" / "note.md").write_text("# New\n\nNew text.\n", encoding="utf-8")
    project.succeed("build", "--quiet")
    # This export caches compressed files, which each fork below would otherwise compress again.
    project.export("--output", str(project.root / "new"))
    faults = 0
    for outcome in each_fault(fault, target.parent, export, step=step):
        faults += 1
        retired = target.with_name(".notes.foundry-old")
        standing = target if target.exists() else retired
        found = snapshot(standing)
        if outcome.exit_code == 0:
            assert found != old, outcome
        elif found != old:
            assert not compare(standing), outcome
            assert outcome.exit_code is None or "was written, but" in outcome.output, outcome
        elif outcome.exit_code is not None:
            assert outcome.exit_code == 1, outcome
            assert "nothing was changed" in outcome.output, outcome
            assert str(target) in outcome.output, outcome
        if found != old:
            shutil.rmtree(target, ignore_errors=True)
            restore(old, target, project)
    assert leftovers(project.root) == []
    assert not compare(target)
    return faults


def restore(old: dict[str, str], target: Path, project: Project) -> None:
    """Restore the export of the first index."""
    copy = project.root / "kept"
    if not copy.exists():
        note = project.root / "sources" / "note.md"
        new = note.read_bytes()
        note.write_text(NOTE["note.md"], encoding="utf-8")
        project.succeed("build", "--quiet")
        project.export("--output", str(copy))
        note.write_bytes(new)
        project.succeed("build", "--quiet")
    shutil.rmtree(target, ignore_errors=True)
    for leftover in target.parent.glob(".*.foundry-*"):
        shutil.rmtree(leftover)
    shutil.copytree(copy, target)
    assert snapshot(target) == old


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS if EVERY_FAULT else FAULTS[:2])
def test_fault_at_many_changes_leaves_one_whole_export(fault: str, built: Project) -> None:
    # Errors of a full disk occur in the same places as those of a broken one.
    step = 1 if EVERY_FAULT else 251 if fault == "SIGKILL" else 503
    assert check_faults(built, fault, step=step) >= 2
