"""The server that `query` and other commands run: rendered here, and run only if unchanged."""

import shutil
import threading
from pathlib import Path

import pytest
from conftest import MakeProject, Project
from filelock import FileLock
from processes import snapshot

from foundry.serving import preview

pytestmark = pytest.mark.usefixtures("formatted_once")

FILES = {"seals.md": "# Seals\n\nReplace the seal yearly."}


@pytest.fixture
def built(make_project: MakeProject, forked_servers: None) -> Project:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    return project


def replace(server: Path, witness: str) -> None:
    (server / "notes" / "__main__.py").write_text(witness)


def prepend(server: Path, witness: str) -> None:
    module = server / "notes" / "search.py"
    module.write_text(witness + module.read_text())


def add(server: Path, witness: str) -> None:
    (server / "numpy.py").write_text(witness)


def add_below(server: Path, witness: str) -> None:
    (server / "numpy").mkdir()
    (server / "numpy" / "__init__.py").write_text(witness)


# This test comes first: a forked server has imported numpy, and would ignore a planted one.
def test_an_edited_server_is_not_run(make_project: MakeProject, tmp_path: Path) -> None:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    answer = project.ask("seal")["results"]
    ran, server = tmp_path / "ran", project.root / ".foundry" / "server"
    rendered = snapshot(server)
    for plant in (replace, prepend, add, add_below):
        plant(server, f"open({str(ran)!r}, 'w').close()\n")
        assert project.ask("seal")["results"] == answer
        assert not ran.exists(), plant
        assert snapshot(server) == rendered


def test_an_unchanged_server_is_not_rendered_again(built: Project) -> None:
    built.ask("seal")
    module = built.root / ".foundry" / "server" / "notes" / "search.py"
    before = module.stat().st_mtime_ns
    built.ask("seal")
    assert module.stat().st_mtime_ns == before


def test_a_link_in_a_server_is_not_followed(built: Project, tmp_path: Path) -> None:
    built.ask("seal")
    server = built.root / ".foundry" / "server"
    rendered = snapshot(server)
    module = server / "notes" / "search.py"
    shutil.move(module, tmp_path / "search.py")
    module.symlink_to(tmp_path / "search.py")
    assert built.run("query", "seal").exit_code == 1
    built.succeed("build", "--quiet")
    built.ask("seal")
    assert snapshot(built.root / ".foundry" / "server") == {
        **rendered,
        ".key": snapshot(server)[".key"],
    }


def test_another_configuration_is_another_server(built: Project) -> None:
    built.ask("seal")
    module = built.root / ".foundry" / "server" / "notes" / "search.py"
    before = module.read_bytes()
    file = built.root / "foundry.toml"
    file.write_text(file.read_text() + "\n[search.operators]\n")
    built.ask("seal")
    assert module.read_bytes() != before


def test_a_server_of_another_configuration_is_rendered_again(built: Project) -> None:
    built.run("eval")
    state = built.root / ".foundry"
    servers = {path.name: snapshot(path) for path in state.glob("server*") if path.is_dir()}
    assert set(servers) == {"server", "server-rrf"}
    shutil.rmtree(state / "server")
    shutil.copytree(state / "server-rrf", state / "server")
    built.ask("seal")
    assert snapshot(state / "server") == servers["server"]


def test_no_tests_are_rendered(built: Project) -> None:
    built.ask("seal")
    assert not (built.root / ".foundry" / "server" / "tests").exists()


@pytest.mark.parametrize("is_rendered", [False, True])
def test_a_query_waits_for_another_that_renders(
    is_rendered: bool, built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another process has rendered the server in the meantime, it is not rendered again."""
    built.ask("seal")
    server = built.root / ".foundry" / "server"
    kept = server.rename(server.with_name("kept"))
    planned: list[object] = []
    plan = preview.plan_server

    def note(*arguments: object, **options: object) -> object:
        planned.append(arguments)
        return plan(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(preview, "plan_server", note)
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.append(built.ask("seal")["results"]))
    with FileLock(built.root / ".foundry" / "server.lock"):
        asking.start()
        asking.join(0.5)
        assert asking.is_alive() and not planned
        if is_rendered:
            kept.rename(server)
    asking.join()
    assert answers and answers[0]
    assert len(planned) == (not is_rendered)


def test_a_query_waits_for_a_limited_time(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    def lock(file: Path, timeout: float) -> FileLock:
        waited.append(timeout)
        return FileLock(file, timeout=0)

    monkeypatch.setattr(preview, "FileLock", lock)
    with FileLock(built.root / ".foundry" / "server.lock"):
        result = built.run("query", "seal")
    assert result.exit_code == 1
    assert "server.lock" in str(result.exception) + result.output
    assert waited == [60.0]


def test_a_query_of_a_rendered_server_takes_no_lock(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    built.ask("seal")
    monkeypatch.setattr(preview, "LOCK_SECONDS", 0.0)
    with FileLock(built.root / ".foundry" / "server.lock"):
        assert built.ask("seal")["results"]


def test_a_server_with_a_file_that_vanishes_is_rendered_again(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    built.ask("seal")
    server = built.root / ".foundry" / "server"
    (server / ".key").write_text("of another")
    gone: list[Path] = []
    read = Path.read_bytes

    def read_until_it_goes(path: Path) -> bytes:
        if path == server / "notes" / "search.py" and not gone:
            gone.append(path)
            raise FileNotFoundError(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_until_it_goes)
    assert built.ask("seal")["results"]
    assert gone
    assert read(server / ".key") != b"of another"
