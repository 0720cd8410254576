"""Only one build, export or publication of a project runs at a time; another fails at once."""

import os
import re
import time
from pathlib import Path

import pytest
from conftest import MakeProject, Project

from foundry.building.lock import hold_lock
from foundry.config.project import load_config

FILES = {"seals.md": "# Seals\n\nReplace the seal yearly."}


@pytest.fixture
def built(make_project: MakeProject) -> Project:
    project = make_project(FILES)
    project.succeed("build", "--quiet")
    return project


def owner_of(project: Project) -> Path:
    return project.root / ".foundry" / "lock.owner"


@pytest.mark.parametrize("command", ["build", "export", "publish"])
def test_a_second_command_names_the_first_and_ends_at_once(
    command: str, built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(_: float) -> None:
        raise AssertionError("it waits")

    with hold_lock(load_config(built.root)):
        monkeypatch.setattr(time, "sleep", wait)
        result = built.run(command)
    assert result.exit_code == 1
    said = re.escape(f"error: {built.root}: process {os.getpid()} (since ")
    said += r"\d\d:\d\d:\d\d\) is working on this project\nhint: wait until it has finished\n"
    assert re.fullmatch(said, result.stderr)


@pytest.mark.parametrize("owner", [None, ""])
def test_an_unknown_holder_is_called_another_process(owner: str | None, built: Project) -> None:
    with hold_lock(load_config(built.root)):
        if owner is None:
            owner_of(built).unlink()
        else:
            owner_of(built).write_text(owner)
        result = built.run("build", "--quiet")
    assert f"{built.root}: another process is working on this project" in result.output


def test_a_command_that_fails_releases_the_lock(built: Project) -> None:
    with pytest.raises(ValueError, match="fault"), hold_lock(load_config(built.root)):
        assert owner_of(built).exists()
        raise ValueError("fault")
    assert not owner_of(built).exists()
    built.succeed("build", "--quiet")
    assert not owner_of(built).exists()


def test_a_build_sets_a_foreign_state_aside(built: Project) -> None:
    (built.root / ".foundry" / "made-here").unlink()
    assert "it is now .foundry.set-aside" in built.succeed("build", "--quiet").stderr


def test_other_commands_refuse_a_foreign_state(built: Project) -> None:
    (built.root / ".foundry" / "made-here").unlink()
    result = built.run("publish")
    assert "was not written here by this installation" in result.output
    assert not list(built.root.glob(".foundry.*"))
