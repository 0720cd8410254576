"""The browser for tests: found on every machine, or requested in a one-sentence message."""

import subprocess
from pathlib import Path

import chromium
import pytest
from browsers import browser
from chromium import CARRIED, REMEDY, find_chromiums

NOWHERE = "/nowhere/chrome"


def write_program(folder: Path, name: str) -> str:
    """Write the placeholder that some systems have until a browser is installed."""
    program = folder / name
    program.write_text("#!/bin/sh\necho install it first >&2\nexit 1\n")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder with the system's programs."""
    names = ("headless-shell", "chromium", "google-chrome")
    monkeypatch.setattr(chromium, "NAMES", names)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    return tmp_path


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let neither npm nor Playwright fetch anything."""

    def refuse(*_: object, **__: object) -> object:
        return subprocess.CompletedProcess((), 1, "", "the registry cannot be reached")

    def refuse_package(_: str) -> Path:
        raise AssertionError("the registry cannot be reached")

    monkeypatch.setattr(chromium, "node_modules", refuse_package)
    monkeypatch.setattr(subprocess, "run", refuse)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("is_carried", [True, False], ids=["carried", "downloaded"])
def test_all_system_browsers_are_tried_before_a_download(
    is_carried: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "IS_CARRIED", is_carried)
    expected = [write_program(path, name) for name in ("headless-shell", "google-chrome")]
    found = find_chromiums(NOWHERE)
    assert [next(found).program for _ in expected] == expected
    with pytest.raises(AssertionError, match="the registry cannot be reached"):
        next(found)


@pytest.mark.usefixtures("offline")
def test_playwrights_browser_is_tried_after_the_systems(path: Path) -> None:
    expected = [write_program(path, name) for name in ("chromium", "of-playwright")]
    found = find_chromiums(expected[1])
    assert [next(found).program for _ in expected] == expected


def test_a_browser_can_be_chosen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(path, "chromium")
    monkeypatch.setenv("CHROMIUM", NOWHERE)
    assert [found.program for found in find_chromiums(NOWHERE)] == [NOWHERE]


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["", CARRIED])
def test_a_browser_is_downloaded_if_none_of_the_systems_starts(
    chosen: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMIUM", chosen)
    write_program(path, "chromium")
    with browser() as running:
        page = running.new_page()
        page.set_content("<p>Pumps</p>")
        assert page.inner_text("p") == "Pumps"


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("is_carried", [True, False], ids=["carried", "downloaded"])
def test_without_a_working_browser_the_failure_names_the_remedy(
    is_carried: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "IS_CARRIED", is_carried)
    program = write_program(path, "chromium")
    with pytest.raises(AssertionError) as failure, browser():
        pass
    said = str(failure.value)
    assert said.startswith(f"{REMEDY}\n{program}: ")
    assert "install it first" in said
    assert said.endswith("\nthe registry cannot be reached")
