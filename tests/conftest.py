"""Projects for tests: a dictionary of files, built and exported through the command line."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import settings

from foundry.cli.main import main
from foundry.rendering import plan
from foundry.rendering.formatting import format_python

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


@pytest.fixture(scope="session", autouse=True)
def formatted_once() -> Iterator[None]:
    """Format what is rendered alike once a session: black and ruff take half of an export."""
    known: dict[str, dict[str, bytes]] = {}

    def format_once(files: Mapping[str, bytes], rendered: Sequence[str]) -> dict[str, bytes]:
        read = [(name, name.endswith((".py", ".toml")) and files[name]) for name in sorted(files)]
        digest = hashlib.sha256(repr((read, rendered)).encode()).hexdigest()
        if digest not in known:
            known[digest] = format_python(files, rendered)
        return dict(known[digest])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "format_python", format_once)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden exports instead of comparing"
    )
