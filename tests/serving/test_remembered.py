"""The server of the last query is reused as long as nothing has changed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import MakeProject, Project

import foundry
from foundry import pipeline
from foundry.serving import remembered
from foundry.serving.remembered import recall

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {"seals.md": "# Seals\n\nReplace the seal yearly."}


@pytest.fixture(autouse=True)
def lasting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat recently written files as old."""
    monkeypatch.setattr("foundry.state.stamps.TICK_NS", -1)
    monkeypatch.setattr("foundry.state.stamps.COARSE_TICK_NS", -1)


@pytest.fixture
def asked(make_project: MakeProject) -> Project:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    project.succeed("query", "seal")
    return project


def refuse(*_: object) -> None:
    raise AssertionError("the configuration is read")


def test_a_second_query_reads_no_configuration(
    asked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = json.loads(asked.succeed("query", "--json", "when to replace it").stdout)
    monkeypatch.setattr(pipeline, "_load_config", refuse)
    again = json.loads(asked.succeed("query", "--json", "when to replace it").stdout)
    assert {**again, "took_ms": 0} == {**first, "took_ms": 0}
    assert [hit["path"] for hit in again["results"]] == ["seals.md"]


LOADING = """
import sys
from foundry.__main__ import main
try:
    main()
finally:
    heavy = {"concurrent.futures", "filelock", "http.client", "logging", "sqlite3", "tomllib"}
    sys.stderr.write(str(sorted(heavy & sys.modules.keys())))
    sys.stderr.write(str(sorted(name for name in sys.modules if name.startswith("foundry.cli."))))
"""


def test_a_second_query_loads_only_what_it_needs(asked: Project) -> None:
    """Imports take most of a query's time."""
    command = [sys.executable, "-c", LOADING, "query", str(asked.root), "seal"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Replace the seal yearly" in done.stdout
    assert done.stderr == "[]['foundry.cli.main', 'foundry.cli.options', 'foundry.cli.querying']"


def touch(path: Path) -> None:
    """Rewrite a file with the same content and modification time."""
    status = path.stat()
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: touch(root / "foundry.toml"),
        lambda root: touch(root / ".foundry/index/CURRENT"),
        lambda root: touch(next((root / ".foundry/index").glob("v*/chunks.jsonl"))),
        lambda root: touch(root / ".foundry/server/notes/search.py"),
        lambda root: (root / ".foundry/server/notes/numpy.py").write_text(""),
        lambda root: (root / ".foundry/server/notes/search.py").unlink(),
        lambda root: touch(root / ".foundry/asked.code") or write_note(root, has_modes=False),
        lambda root: (root / ".foundry/asked.json").write_text("[]"),
        lambda root: (root / ".foundry/asked.code").unlink(),
    ],
)
def test_changes_are_noticed(asked: Project, change: Callable[[Path], object]) -> None:
    assert recall(asked.root) is not None
    change(asked.root)
    assert recall(asked.root) is None
    asked.succeed("query", "seal")
    assert recall(asked.root) is not None


def write_note(root: Path, **values: object) -> None:
    note = root / ".foundry/asked.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), **values}))


def test_another_version_of_foundry_reads_the_configuration_again(
    asked: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "foundry"
    other.mkdir()
    (other / "__init__.py").write_text("")
    monkeypatch.setattr(foundry, "__file__", str(other / "__init__.py"))
    assert recall(asked.root) is None


def test_a_warning_is_repeated(asked: Project) -> None:
    config = asked.root / "foundry.toml"
    config.write_text(config.read_text() + "[chunking]\nmax_chars = 500\n")
    for _ in range(2):
        assert "has changed since the index was built" in asked.succeed("query", "seal").stderr


def test_a_file_that_a_configuration_names_is_read_each_time(make_project: MakeProject) -> None:
    project = make_project(FILES)
    config = project.root / "foundry.toml"
    config.write_text(config.read_text() + '[search.synonyms]\nfile = "words.txt"\n')
    (project.root / "words.txt").write_text("seal, gasket\n")
    project.succeed("build", "--quiet")
    project.succeed("query", "seal")
    assert recall(project.root) is None


def test_recently_written_files_are_not_remembered(
    asked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a file could change again without a new stamp."""
    (asked.root / ".foundry" / remembered.NOTE).unlink()
    monkeypatch.setattr(remembered, "lasting_stamp", lambda _: None)
    asked.succeed("query", "seal")
    assert not (asked.root / ".foundry" / remembered.NOTE).exists()
