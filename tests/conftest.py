"""Projects for tests: a dictionary of files, built and exported through the command line."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import settings

from foundry.cli.main import main
from foundry.export import compose
from foundry.rendering import formatting

# The same examples in every run, however busy the machine; `--hypothesis-profile explore` draws
# others, of which those that fail are kept for the next run.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("steady")

CONFIG = """
[project]
name = "notes"

[[sources]]
type = "folder"
path = "sources"
"""


@dataclass(frozen=True, slots=True)
class Project:
    """A project on disk, worked on as a user would."""

    root: Path

    def run(self, command: str, *arguments: str) -> Result:
        """Run a command on this project; its exit code may be anything."""
        return CliRunner().invoke(main, [command, str(self.root), *arguments])

    def succeed(self, command: str, *arguments: str) -> Result:
        """Run a command that must succeed."""
        result = self.run(command, *arguments)
        assert result.exit_code == 0, result.output
        return result

    def ask(self, query: str, *arguments: str) -> dict[str, Any]:
        """Ask a question; returns what POST /search answers."""
        answer = json.loads(self.succeed("query", query, "--json", *arguments).stdout)
        assert isinstance(answer, dict)
        return answer

    def export(self, *arguments: str) -> Path:
        """Export to the default place."""
        answer = json.loads(self.succeed("export", "--json", *arguments).stdout)
        return Path(answer["export"])

    @property
    def index(self) -> Path:
        """The folder of the current version of the index."""
        folder = self.root / ".foundry" / "index"
        return folder / (folder / "CURRENT").read_text().strip()


MakeProject = Callable[..., Project]


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Write a project's files; those without a slash in their name go to `sources/`."""

    def make(
        files: Mapping[str, str | bytes], *, config: str = CONFIG, name: str = "project"
    ) -> Project:
        root = tmp_path / name
        (root / "sources").mkdir(parents=True)
        (root / "foundry.toml").write_text(config, encoding="utf-8")
        for file, content in files.items():
            path = root / (file if "/" in file else f"sources/{file}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Project(root)

    return make


@pytest.fixture(scope="session")
def shared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session", autouse=True)
def formatted_once(shared_folder: Path) -> Iterator[None]:
    """Have black read each text once a run: servers are alike, and it takes half of an export."""
    known = shared_folder / "formatted"
    known.mkdir(exist_ok=True)
    run = formatting._run

    def run_once(tool: str, arguments: Sequence[str], folder: Path) -> None:
        if tool != "black":
            run(tool, arguments, folder)
            return
        text = (folder / "pyproject.toml").read_text(encoding="utf-8")
        options = text.partition("[tool.black]")[2].partition("\n[")[0].encode()
        new = {}
        for name in arguments[1:]:
            path = folder / name
            formatted = known / hashlib.sha256(options + path.read_bytes()).hexdigest()
            if formatted.exists():
                path.write_bytes(formatted.read_bytes())
            else:
                new[name] = formatted
        if new:
            run(tool, [arguments[0], *new], folder)
        for name, formatted in new.items():
            written = formatted.with_suffix(f".{os.getpid()}")
            written.write_bytes((folder / name).read_bytes())
            written.replace(formatted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formatting, "_run", run_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def in_haste() -> Iterator[None]:
    """Leave out what no test can observe: no machine loses power between two of them.

    Flushing the 40 files of a build takes a third of its time; every export reads the same lock.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(compose, "Resolution", cache(compose.Resolution))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that have slow tests, so that no process is left alone with one."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden exports instead of comparing"
    )
