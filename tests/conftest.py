"""Projects for tests: a dictionary of files, built and exported through the command line."""

import gc
import json
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sharing
import warm_python
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, Phase, settings

from foundry.cli.main import main
from foundry.state.folder import PROOF, STATE, sign

if TYPE_CHECKING:
    from native_qdrant import NativeQdrant

# Every run uses the same examples, without deadlines. `--hypothesis-profile explore` draws new
# ones, and repeats failed ones in the next run.
unhurried = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", unhurried, derandomize=True)
settings.register_profile("explore", unhurried, max_examples=200)
# For `benchmarks/mutants.py`: a failure is enough; shrinking the example takes long.
FOUND_ONLY = [Phase.explicit, Phase.generate]
settings.register_profile("unshrunk", unhurried, derandomize=True, phases=FOUND_ONLY)
settings.load_profile("steady")

GARBAGE = 50_000
"""Threshold of the garbage collector: allocations minus deallocations."""

CONFIG = """
[project]
name = "notes"

[[sources]]
type = "folder"
path = "sources"
"""


MOST_OPEN = 500
"""Maximum number of files and connections that a process has open at the end; `select` takes 1,024.

An index has about 25. About ten connections to engines that stopped responding are closed late.
"""


@dataclass(frozen=True, slots=True)
class Project:
    """A project on disk, used as a user would use it."""

    root: Path

    def run(self, command: str, *arguments: str) -> Result:
        """Run a command on this project; its exit code may be anything."""
        return CliRunner().invoke(main, [command, str(self.root), *arguments])

    def succeed(self, command: str, *arguments: str) -> Result:
        """Run a command that must succeed."""
        result = self.run(command, *arguments)
        assert result.exit_code == 0, result.output
        return result

    def build(self, *arguments: str) -> dict[str, Any]:
        """Build; returns the output of --json."""
        answer = json.loads(self.succeed("build", "--quiet", "--json", *arguments).stdout)
        assert isinstance(answer, dict)
        return answer

    def ask(self, query: str, *arguments: str) -> dict[str, Any]:
        """Ask a question; returns the response of POST /search."""
        answer = json.loads(self.succeed("query", query, "--json", *arguments).stdout)
        assert isinstance(answer, dict)
        return answer

    def export(self, *arguments: str) -> Path:
        """Export to the default place."""
        answer = json.loads(self.succeed("export", "--json", *arguments).stdout)
        return Path(answer["export"])

    def copy(self, root: Path) -> "Project":
        """Copy the project to a new folder; the copy behaves as if it had been built there."""
        copy = Project(shutil.copytree(self.root, root, symlinks=True))
        copy.sign_anew()
        return copy

    def without_state(self, root: Path) -> "Project":
        """Copy the project, as if it had never been built; `root` is replaced."""
        shutil.rmtree(root, ignore_errors=True)
        ignore = shutil.ignore_patterns(STATE)
        return Project(shutil.copytree(self.root, root, symlinks=True, ignore=ignore))

    def sign_anew(self) -> None:
        """Sign the state and its index again with this installation's secret, even if invalid."""
        state = self.root / STATE
        (state / PROOF).write_text(sign(state, "state", b""))
        for code in (state / "index").glob("v*.code"):
            manifest = code.with_suffix("") / "manifest.json"
            code.write_text(sign(state, f"index/{code.stem}", manifest.read_bytes()))

    @property
    def index(self) -> Path:
        """The folder of the current version of the index."""
        folder = self.root / ".foundry" / "index"
        return folder / (folder / "CURRENT").read_text().strip()


MakeProject = Callable[..., Project]


def write_project(
    root: Path, files: Mapping[str, str | bytes], config: str = CONFIG, *, built: bool = False
) -> Project:
    """Write a project's files, and build it if `built`; names without a slash are in `sources/`."""
    (root / "sources").mkdir(parents=True)
    (root / "foundry.toml").write_text(config, encoding="utf-8")
    for file, content in files.items():
        path = root / (file if "/" in file else f"sources/{file}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    project = Project(root)
    if built:
        project.succeed("build", "--quiet")
    return project


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Write a project's files; see `write_project`."""

    def make(
        files: Mapping[str, str | bytes], *, config: str = CONFIG, name: str = "project"
    ) -> Project:
        return write_project(tmp_path / name, files, config)

    return make


@pytest.fixture
def stamps_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the stamps of new files immediately."""
    monkeypatch.setattr("foundry.state.stamps.TICK_NS", -1)


# The engines are imported when a test uses them: every process reads this file, and few need them.
@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    from stores import running_postgres

    with running_postgres() as address:
        yield address


@pytest.fixture
def qdrant(tmp_path: Path) -> "Iterator[NativeQdrant]":
    """Qdrant's API on top of its native shards."""
    from native_qdrant import running_qdrant

    with running_qdrant(tmp_path / "shards") as engine:
        yield engine


@pytest.fixture(scope="session", autouse=True)
def sharing_a_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Give all test processes of a run a shared folder; check that each closes its files."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if hasattr(request.config, "workerinput") else own / "shared"
    shared.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, sharing.in_folder(shared):
        # Tests have their own cache, because the user's cache holds the secret of this
        # installation.
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        yield
    gc.collect()
    left = find_open()
    assert len(left) <= MOST_OPEN, left


@pytest.fixture(scope="module", autouse=True)
def no_folders_left(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Remove the folders that the tests of a module share, when all of them have passed.

    pytest itself removes only `tmp_path`.
    """
    own = tmp_path_factory.getbasetemp()
    before, failed = set(own.iterdir()), request.session.testsfailed
    yield
    if request.session.testsfailed == failed:
        for folder in set(own.iterdir()) - before:
            if not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def formatted_once() -> Iterator[None]:
    """Format each server once per run; see `sharing.formatted_once`."""
    with sharing.formatted_once():
        yield


@pytest.fixture(scope="module")
def forked_servers() -> Iterator[None]:
    """Make the servers that Foundry runs start quickly."""
    with sharing.forked_servers():
        yield


@pytest.fixture(scope="module")
def forked_readers() -> Iterator[None]:
    """Make the workers that read files start quickly."""
    with sharing.forked_readers():
        yield


def find_open() -> list[str]:
    """The open files of this process; empty where the system does not list them."""
    found = []
    for descriptor in Path("/proc/self/fd").glob("*"):
        with suppress(FileNotFoundError):  # The folder's own descriptor is closed by now.
            found.append(str(descriptor.readlink()))
    return sorted(found)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each worker process the address of the process that others are forked from."""
    node.workerinput["started"] = sharing.start_for_all()


def pytest_configure(config: pytest.Config) -> None:
    # Shells make background processes and their children ignore this signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(GARBAGE)
    for libraries, command in getattr(config, "workerinput", {}).get("started", ()):
        warm_python.STARTED[tuple(libraries)] = list(command)


def pytest_collection_finish() -> None:
    """Exclude everything imported and collected so far from garbage collection."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that have slow tests, so that no process works alone at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden exports instead of comparing"
    )
