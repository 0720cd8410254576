"""Files named in a configuration or a command: special or large files are reported, not read."""

import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import CONFIG, MakeProject, Project, write_project
from processes import foundry
from systems import without_rights

from foundry.cli.main import main
from foundry.config.named_files import NamedFileError, read_named

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

CANARY = "zebrafinch"
"""The content of files outside of the project, which no message may contain."""

SECONDS = 30
GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Named:
    """A file in the project, and the command that reads it.

    `by_user`: named on the command line, not in the configuration.
    """

    file: str
    command: tuple[str, ...]
    config: str = ""
    by_user: bool = False

    def words(self, project: Project, *, with_root: bool = False) -> list[str]:
        """Return the command's words, including the project if asked for."""
        path = str(project.root / self.file)
        command, *options = (path if word == "FILE" else word for word in self.command)
        return [command, *([str(project.root)] if with_root else []), *options]

    def run(self, project: Project) -> str:
        """Run the command, which must fail with an error message; returns its output."""
        result = project.run(*self.words(project))
        assert isinstance(result.exception, SystemExit), result.exc_info
        assert result.exit_code in {1, 2}
        assert "Traceback" not in result.output
        return str(result.output)


SYNONYMS = '\n[search.synonyms]\nfile = "words.txt"\n'
TEMPLATES = '\n[export]\ntemplates = "own"\n'
NAMED = {
    "foundry.toml": Named("foundry.toml", ("build", "--quiet")),
    "search.synonyms.file": Named("words.txt", ("build", "--quiet"), SYNONYMS),
    "export.templates": Named("own/README.md.jinja", ("export", "--trust", "--stale"), TEMPLATES),
    "questions.jsonl": Named("questions.jsonl", ("eval",)),
    "questions.jsonl of an export": Named("questions.jsonl", ("export", "--stale")),
    "known questions": Named("questions.jsonl", ("questions", "--log", "OTHER")),
    "--questions": Named("q", ("eval", "--questions", "FILE"), by_user=True),
    "--queries": Named("q", ("eval", "--queries", "FILE", "--qrels", "OTHER"), by_user=True),
    "--qrels": Named("q", ("eval", "--queries", "OTHER", "--qrels", "FILE"), by_user=True),
    "--baseline": Named("q", ("eval", "--baseline", "FILE"), by_user=True),
    "--log": Named("q", ("questions", "--log", "FILE"), by_user=True),
}
OTHER = {
    "known questions": '{"query": "what", "match": "none", "documents": []}',
    "--qrels": '{"_id": "1", "text": "seals"}',
}
"""Content of the second file that a command needs, by the key of the tested one."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    files = {"a.md": "# Seals\n\nReplace them.\n"}
    return write_project(tmp_path_factory.mktemp("named") / "project", files, built=True)


@pytest.fixture(params=NAMED)
def key(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def named(key: str, built: Project, tmp_path: Path) -> tuple[Named, Project]:
    """A file to be replaced, and its project."""
    project, wanted = built.copy(tmp_path / "project"), NAMED[key]
    (project.root / "foundry.toml").write_text(CONFIG + wanted.config)
    (project.root / "own").mkdir()
    (project.root / wanted.file).unlink(missing_ok=True)
    other = tmp_path / "other"
    other.write_text(OTHER.get(key, "1\tx\t1\n"))
    command = tuple(str(other) if word == "OTHER" else word for word in wanted.command)
    return Named(wanted.file, command, wanted.config, wanted.by_user), project


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """Interrupt a test that hangs."""

    def give_up(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_socket(path: Path) -> None:
    # The full path may be too long for a socket.
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


def make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * GIGABYTE)


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a named pipe": (make_pipe, "is a named pipe, not a file"),
    "a device": (make_device, "is a device, not a file|is outside|leads out of"),
    "a socket": (make_socket, "is a socket, not a file"),
    "a folder": (Path.mkdir, "is a folder, not a file|is a directory"),
    "3 GB without content": (make_large, "bytes; shorten or split it"),
    "a link to itself": (make_loop, "Too many levels|does not exist"),
}
"""Things in place of a file, with texts separated by |: the error must contain one of them."""


def test_special_and_large_files_are_errors(key: str, named: tuple[Named, Project]) -> None:
    wanted, project = named
    for make, said in ODD.values():
        if (key, make) == ("export.templates", Path.mkdir):
            # A folder without templates is valid.
            continue
        path = project.root / wanted.file
        make(path)
        output = wanted.run(project)
        assert (key if wanted.by_user else path.name) in output
        assert any(part in output for part in said.split("|")), output
        if make is Path.mkdir:
            path.rmdir()
        else:
            path.unlink()


def test_binary_files_are_not_quoted(key: str, named: tuple[Named, Project]) -> None:
    wanted, project = named
    (project.root / wanted.file).write_bytes(b"\xff\xfe\xfa" + CANARY.encode())
    if key in {"--log", "known questions"}:
        # The readers of these two files skip invalid lines.
        result = project.run(*wanted.words(project))
        assert (result.exit_code, CANARY in result.output) == (0, False)
    else:
        assert CANARY not in wanted.run(project)


LINES = (
    f"{CANARY}\n",
    f'{{"query": "{CANARY}"}}\n',
    f'{{"query": "x", "relevant": {{"{CANARY}": "{CANARY}"}}}}\n',
    f'{{"_id": "{CANARY}", "text": 1}}\n',
    f'{{"_id": "{CANARY}", "text": "a"}}\n' * 2,
    f"{CANARY}\t{CANARY}\t1\n",
    f"query-id\tcorpus-id\tscore\n{CANARY}\t{CANARY}\t{CANARY}\n",
    f'[project]\nname = "{CANARY} {CANARY}"\n',
    f"[{CANARY}]\n" * 2,
    f"{CANARY}, {CANARY}\n",
)


def test_no_file_outside_the_project_is_quoted(
    named: tuple[Named, Project], tmp_path: Path
) -> None:
    """A configuration may not name such a file, not even through a link; a command line may."""
    wanted, project = named
    outside = tmp_path / "outside"
    (project.root / wanted.file).symlink_to(outside)
    for lines in LINES if wanted.by_user else LINES[:1]:
        outside.write_text(lines)
        result = project.run(*wanted.words(project))
        assert result.exit_code in ({0, 1, 2} if wanted.by_user else {1, 2}), result.output
        assert CANARY not in result.output
        if not wanted.by_user:
            assert re.search("is outside|leads out of", result.output)


@pytest.mark.parametrize("key", ["foundry.toml", "search.synonyms.file", "questions.jsonl"])
def test_unreadable_files_are_reported(key: str, named: tuple[Named, Project]) -> None:
    wanted, project = named
    (project.root / wanted.file).write_text(CANARY)
    (project.root / wanted.file).chmod(0)
    done = foundry(*wanted.words(project, with_root=True), prefix=without_rights())
    assert done.returncode in {1, 2}
    assert re.search(
        rf"{wanted.file}: (1 problem\s+)?.*cannot be read: Permission denied", done.stderr
    )


def test_an_unreadable_project_is_not_called_missing(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    project.root.chmod(0o600)
    try:
        done = foundry("build", project.root, prefix=without_rights())
    finally:
        project.root.chmod(0o755)
    assert done.returncode == 2
    assert "cannot be read: Permission denied" in done.stderr
    assert "create one" not in done.stderr


PATHS = {
    "search.synonyms.file": '[search.synonyms]\nfile = "PATH"\n',
    "export.templates": '[export]\ntemplates = "PATH"\n',
    "sources[1].path": '[[sources]]\ntype = "folder"\nname = "more"\npath = "PATH"\n',
    "sources[1].path of a table": '[[sources]]\ntype = "records"\nname = "x"\npath = "PATH"\n',
    "sources[1].repository": '[[sources]]\ntype = "git"\nname = "x"\nrepository = "PATH"\n',
}
"""Every key that names a file or a folder of this machine."""


@pytest.mark.parametrize("named_by", PATHS)
def test_invalid_names_are_reported_with_their_key(
    named_by: str, make_project: MakeProject
) -> None:
    project = make_project({})
    for path in ("a\\u0000b", "x" * 300, "x/" * 3_000, "no/such", "foundry.toml/x"):
        config = f"{CONFIG}\n{PATHS[named_by].replace('PATH', path)}"
        (project.root / "foundry.toml").write_text(config)
        result = project.run("build", "--quiet")
        assert isinstance(result.exception, SystemExit), result.exc_info
        assert result.exit_code == 2
        assert f"{named_by.partition(' ')[0]}: " in result.output


def test_a_file_in_the_project_may_be_a_link(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    (project.root / "foundry.toml").rename(project.root / "config.toml")
    (project.root / "foundry.toml").symlink_to("config.toml")
    (tmp_path / "linked").symlink_to("project")
    for root in (project.root, tmp_path / "linked"):
        Project(root).succeed("build", "--quiet")


def test_files_of_unknown_or_growing_size_are_read_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 10)
    assert read_named(file, 10) == b"x" * 10
    with pytest.raises(NamedFileError, match="has more than 9 bytes"):
        read_named(file, 9)
    maps = Path("/proc/self/maps")
    if maps.exists():
        # The system reports the size 0 for this file.
        with pytest.raises(NamedFileError, match="has more than 9 bytes"):
            read_named(maps, 9)


def test_a_long_form_of_a_synonym_is_not_quoted(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    (project.root / "foundry.toml").write_text(CONFIG + SYNONYMS)
    (project.root / "words.txt").write_bytes(b"\0" * 15_000_000)
    output = NAMED["search.synonyms.file"].run(project)
    assert "words.txt:1: has a form of more than 200 characters; shorten it" in output
    assert len(output) < 1_000


@pytest.mark.parametrize("odd", ["a named pipe", "a device"])
def test_a_table_that_is_a_pipe_does_not_block(
    odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ODD[odd][0](tmp_path / "rows.csv")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for command in (["serve", "--no-watch", "--port", "0"], ["init", "x", "--source"]):
        with chdir(tmp_path):
            result = CliRunner().invoke(main, [*command, "rows.csv"])
        assert isinstance(result.exception, SystemExit), result.exc_info
        assert result.exit_code in {1, 2}
