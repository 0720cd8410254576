"""The browser of tests: had on every machine, or asked for in one sentence."""

import subprocess
from pathlib import Path

import chromium
import pytest
from browsers import browser
from chromium import REMEDY, Chromium, find_chromium

NOWHERE = "/nowhere/chrome"


def write_program(folder: Path, name: str, exit_code: int) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder where the system's programs are."""
    monkeypatch.setattr(chromium, "NAMES", ("chromium", "google-chrome"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_systems_comes_first(path: Path) -> None:
    program = write_program(path, "google-chrome", 0)
    assert find_chromium(str(write_program(path, "of-playwright", 0))) == Chromium(str(program))


def test_what_stands_for_one_that_is_not_installed_is_passed_over(path: Path) -> None:
    write_program(path, "chromium", 1)
    program = write_program(path, "google-chrome", 0)
    assert find_chromium(NOWHERE) == Chromium(str(program))


def test_the_one_of_playwright_is_taken_where_it_is(path: Path) -> None:
    program = write_program(path, "of-playwright", 0)
    assert find_chromium(str(program)) == Chromium(str(program))


@pytest.mark.slow
def test_one_is_had_where_the_system_has_none(path: Path) -> None:
    with browser() as running:
        page = running.new_page()
        page.set_content("<p>Pumps</p>")
        assert page.inner_text("p") == "Pumps"


@pytest.mark.parametrize("is_carried", [True, False], ids=["carried", "downloaded"])
def test_none_to_be_had_is_a_failure_that_says_how_to_get_one(
    is_carried: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> object:
        return subprocess.CompletedProcess((), 1, "", "the registry cannot be reached")

    def refuse_package(_: str) -> Path:
        raise AssertionError("the registry cannot be reached")

    monkeypatch.setattr(chromium, "IS_CARRIED", is_carried)
    monkeypatch.setattr(chromium, "node_modules", refuse_package)
    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(AssertionError) as failure:
        find_chromium(NOWHERE)
    assert str(failure.value) == f"{REMEDY}\nthe registry cannot be reached"
