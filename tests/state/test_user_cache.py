"""The secret with which an installation signs its state: private, created once, never indexed."""

import os
import sys
from pathlib import Path

import pytest
from conftest import MakeProject, Project
from processes import start
from sharing import begin_foundry
from systems import needs_root

from foundry.state.user_cache import SECRET_BYTES, SECRET_NAME

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

FILES = {"seals.md": "# Seals\n\nReplace the seal yearly."}
REFUSED = "was not written here by this installation"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installation that has not written anything yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "foundry"


@pytest.fixture
def built(cache: Path, make_project: MakeProject) -> Project:
    assert not cache.exists()
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    return project


def test_the_secret_is_private_and_does_not_change(built: Project, cache: Path) -> None:
    secret = cache / SECRET_NAME
    content = secret.read_bytes()
    assert len(content) == 32
    assert (cache.stat().st_mode & 0o777, secret.stat().st_mode & 0o777) == (0o700, 0o600)
    built.succeed("build", "--quiet")
    assert secret.read_bytes() == content
    assert {path.name for path in cache.iterdir()} == {SECRET_NAME, "state.lock"}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_secret_that_others_can_read_is_replaced(mode: int, built: Project, cache: Path) -> None:
    secret = cache / SECRET_NAME
    content = secret.read_bytes()
    secret.chmod(mode)
    assert REFUSED in built.run("inspect").output
    assert secret.read_bytes() != content
    assert secret.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("size", [0, SECRET_BYTES - 1, SECRET_BYTES + 1])
def test_a_secret_of_another_size_is_replaced(size: int, built: Project, cache: Path) -> None:
    secret = cache / SECRET_NAME
    secret.write_bytes(b"x" * size)
    assert REFUSED in built.run("inspect").output
    assert len(secret.read_bytes()) == SECRET_BYTES


@needs_root
def test_a_secret_of_another_user_is_replaced(built: Project, cache: Path) -> None:
    os.chown(cache / SECRET_NAME, 65534, 65534)
    assert REFUSED in built.run("inspect").output
    assert (cache / SECRET_NAME).stat().st_uid == 0


def test_a_secret_behind_a_link_is_not_read(built: Project, cache: Path, tmp_path: Path) -> None:
    (cache / SECRET_NAME).rename(tmp_path / "secret")
    (cache / SECRET_NAME).symlink_to(tmp_path / "secret")
    result = built.run("inspect")
    assert result.exit_code == 1
    assert "cannot be stored" in result.output
    assert "set XDG_CACHE_HOME to a folder that only this user can write to" in result.output


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    result = make_project(FILES).run("build", "--quiet")
    assert result.exit_code == 1
    assert f"{tmp_path}/file/foundry: the secret that signs Foundry's files" in result.output
    assert "set XDG_CACHE_HOME" in result.output


def test_a_relative_cache_folder_is_ignored(
    tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    make_project(FILES).succeed("build", "--quiet")
    assert list((tmp_path / "home").rglob(SECRET_NAME))


def test_on_macos_the_cache_is_in_library_caches(
    tmp_path: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    assert (tmp_path / "home" / ".cache" / "foundry" / SECRET_NAME).is_file()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert REFUSED in project.run("inspect").output
    assert (tmp_path / "home" / "Library" / "Caches" / "foundry" / SECRET_NAME).is_file()


def test_a_new_installation_reads_a_state_without_a_cache(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new" / "cache"))
    assert REFUSED in built.run("inspect").output


def test_a_file_system_without_modes_is_named(
    cache: Path, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def link_openly(source: str, target: Path) -> None:
        link(source, target)
        target.chmod(0o777)

    monkeypatch.setattr(os, "link", link_openly)
    result = make_project(FILES).run("build", "--quiet")
    assert result.exit_code == 1
    assert f"{cache / SECRET_NAME}: the secret" in result.output
    assert "other users can access the file" in result.output


def test_source_around_the_cache_does_not_deliver_the_secret(built: Project, cache: Path) -> None:
    (cache / "notes.md").write_text("# Notes\n\nOf the cache.")
    config = f'[project]\nname = "n"\n\n[[sources]]\ntype = "folder"\npath = "{cache}"\n'
    config += f'include = [".*", "{SECRET_NAME}", "notes.md"]\n'
    (built.root / "foundry.toml").write_text(config)
    built.succeed("build", "--quiet")
    hits = built.ask("notes", "--top-k", "100")["results"]
    assert [hit["path"] for hit in hits] == ["notes.md"]


def test_simultaneous_builds_share_one_secret_and_one_state(
    cache: Path, make_project: MakeProject
) -> None:
    project = make_project(FILES)
    begin = begin_foundry()
    begun = [start("build", project.root, "--quiet", begin=begin) for _ in range(3)]
    said = [process.communicate(timeout=120)[1] for process in begun]
    assert [process.returncode for process in begun].count(0) >= 1
    assert all("is working on this project" in each or not each for each in said), said
    assert not list(project.root.glob(".foundry.*"))
    assert project.ask("seal")["results"]
    assert (cache / SECRET_NAME).is_file()
