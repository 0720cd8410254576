"""Formatters that are missing, slow, killed or failing: a clear message, and nothing is written."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import MakeProject, Project
from processes import leftovers, snapshot, start
from pytest_subprocess import FakeProcess
from sharing import formatted_once
from systems import needs_proc
from waiting import wait_until

from foundry.rendering.formatting import TIME_LIMIT_SECONDS

NOTE = {"note.md": "# Seals\n\nReplace the D40 seal yearly.\n"}
TOOLS = ("black", "ruff")


def command(fp: FakeProcess, tool: str) -> list[object]:
    return [sys.executable, "-P", "-m", tool, fp.any()]


def slow(process: object) -> None:
    raise subprocess.TimeoutExpired("formatter", TIME_LIMIT_SECONDS)


def unstartable(process: object) -> None:
    raise PermissionError(13, "Permission denied")


FAULTS: dict[str, tuple[dict[str, object], str]] = {
    "missing": (
        {"returncode": 1, "stderr": "python: No module named {tool}\n"},
        "No module named {tool}\nhint: reinstall it: .* install .*{tool}",
    ),
    "slow": ({"callback": slow}, "{tool} did not end within 60 seconds; nothing was written"),
    "killed": ({"returncode": -9}, "{tool} was killed by signal 9; nothing was written"),
    "unhappy": (
        {"returncode": 1, "stdout": "notes/search.py:1:1: E902 complaint\n"},
        r"{tool} rejected the rendered server \(exit 1\); nothing was written:\nnotes/search.py:1",
    ),
    "unstartable": ({"callback": unstartable}, "{tool} could not be run: .*Permission denied"),
}


@pytest.fixture(autouse=True)
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the process groups instead of killing them, since fakes have real process ids."""
    killed: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: killed.append(group))
    return killed


@pytest.fixture
def built(make_project: MakeProject) -> Project:
    project = make_project(NOTE)
    project.succeed("build", "--quiet")
    return project


def break_tool(fp: FakeProcess, tool: str, fault: str) -> str:
    """Make a formatter fail; returns a pattern for the error message."""
    behaviour, message = FAULTS[fault]
    behaviour = {
        key: value.format(tool=tool) if isinstance(value, str) else value
        for key, value in behaviour.items()
    }
    fp.keep_last_process(True)
    if tool == "black":
        # Imports are sorted before this.
        fp.register(command(fp, "ruff"))
    fp.register(command(fp, tool), **behaviour)  # type: ignore[arg-type]
    return message.format(tool=tool)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("fault", FAULTS)
def test_export_fails_clearly_and_writes_nothing(
    tool: str,
    fault: str,
    built: Project,
    killed: list[int],
    fp: FakeProcess,
) -> None:
    expected = break_tool(fp, tool, fault)
    before = snapshot(built.root)
    result = built.run("export")
    assert result.exit_code == 1
    assert killed or fault != "slow"
    assert re.search(expected, result.stderr), result.stderr
    assert "Traceback" not in result.output
    assert f"{tempfile.gettempdir()}/foundry-" not in result.output
    assert without_lock(snapshot(built.root)) == without_lock(before)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("fault", ["slow", "unhappy"])
def test_query_fails_clearly_and_works_afterwards(
    tool: str, fault: str, built: Project, fp: FakeProcess
) -> None:
    expected = break_tool(fp, tool, fault)
    result = built.run("query", "seal")
    assert result.exit_code == 1
    assert re.search(expected, result.stderr), result.stderr
    assert not (built.root / ".foundry" / "server").exists()


def test_earlier_export_is_not_changed(built: Project) -> None:
    with formatted_once():
        exported = built.export()
    before = snapshot(exported)
    with FakeProcess() as fp:
        break_tool(fp, "black", "killed")
        assert built.run("export").exit_code == 1
    assert snapshot(exported) == before
    assert leftovers(built.root) == []
    with formatted_once():
        built.export()


HANGING = """
import os, pathlib, time
os.fork()
with pathlib.Path(__file__).with_name("started").open("a") as started:
    started.write(f"{os.getpid()} ")
time.sleep(3600)
"""
"""Imitates black, which starts worker processes, but never ends."""


@needs_proc
def test_interrupted_export_leaves_no_formatter_behind(
    built: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "black.py").write_text(HANGING)
    started = tmp_path / "started"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    process = start("export", built.root)
    wait_until(lambda: started.exists() and started.read_text().count(" ") == 2)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130, said
    assert "interrupted" in said and "Traceback" not in said
    wait_until(lambda: not any(map(is_running, started.read_text().split())))


def is_running(process: str) -> bool:
    try:
        # The file is empty once the process has ended, even if nobody has waited for the process.
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""
    except OSError:
        return False


@pytest.mark.slow
def test_package_named_like_the_formatter_is_not_run(
    make_project: MakeProject,
) -> None:
    config = '[project]\nname = "uvloop"\n[[sources]]\ntype = "folder"\npath = "sources"\n'
    project = make_project({**NOTE, "tomli.py": "raise SystemExit('ran')\n"}, config=config)
    project.succeed("build", "--quiet")
    assert Path(project.export(), "uvloop", "search.py").exists()


def without_lock(files: dict[str, str]) -> dict[str, str]:
    return {name: what for name, what in files.items() if "lock" not in name}
