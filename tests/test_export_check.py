"""`foundry export --check` prints nothing if nothing differs, and otherwise a readable diff."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject, Project
from processes import snapshot

pytestmark = pytest.mark.usefixtures("formatted_once")

SMALL = CONFIG + "[server]\nmcp = false\nchat = false\npage = false\n"
NOTE = {"note.md": "# Pumps\n\nA pump has a seal.\n\n## Seals\n\nReplace the D40 seal yearly.\n"}


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    project = make_project(NOTE, config=SMALL)
    project.succeed("build", "--quiet")
    project.export()
    return project


def differences(project: Project, *arguments: str) -> str:
    result = project.run("export", "--check", *arguments)
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    return result.stdout


def test_fresh_export_passes_in_any_folder(project: Project, tmp_path: Path) -> None:
    exported = project.root / "dist" / "notes"
    (exported / "notes" / "__pycache__").mkdir()
    (exported / ".env").write_text("API_TOKENS=x\n")
    before = snapshot(project.root)
    assert "ok" in project.succeed("export", "--check").output
    assert {name: what for name, what in snapshot(project.root).items() if "lock" not in name} == {
        name: what for name, what in before.items() if "lock" not in name
    }


def test_every_kind_of_difference_is_shown(project: Project) -> None:
    exported = project.root / "dist" / "notes"
    search = exported / "notes" / "search.py"
    search.write_text(search.read_text().replace("step by step.", "in disorder\x1b[31m."))
    (exported / "Dockerfile").unlink()
    (exported / "stranger.txt").write_text("mine\n")
    vectors = exported / "notes" / "data" / "vectors.i8.npy"
    vectors.write_bytes(vectors.read_bytes() + b"\0")
    (exported / "README.md").write_bytes(b"\xff")
    (exported / "pyproject.toml").unlink()
    (exported / "pyproject.toml").symlink_to("README.md")
    said = differences(project)
    assert '-"""How this server searches, in disorder\\x1b[31m."""' in said
    assert '+"""How this server searches, step by step."""' in said
    for line in (
        "missing: Dockerfile",
        "not part of the export: stranger.txt",
        "contents differ: notes/data/vectors.i8.npy",
        "contents differ: README.md",
        "a link: pyproject.toml",
    ):
        assert f"{line}\n" in said


@pytest.mark.slow
def test_changes_of_the_configuration_are_shown(project: Project) -> None:
    file = project.root / "foundry.toml"
    file.write_text(SMALL + "port = 8123\n", encoding="utf-8")
    said = differences(project)
    assert '-  "port": 8000,\n+  "port": 8123,\n' in said
    assert "contents differ: SHA256SUMS\n" in said
    result = project.run("export", "--check", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["differences"] == said


def test_missing_folder_is_an_error(project: Project, tmp_path: Path) -> None:
    shutil.rmtree(project.root / "dist")
    result = project.run("export", "--check")
    assert result.exit_code == 1
    assert "no such folder" in result.stderr
    assert project.run("export", "--check", "--force").exit_code == 2
