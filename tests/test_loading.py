"""A server while it loads: an interrupt prints no error, and importing it changes nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CONFIG, Project

pytestmark = pytest.mark.usefixtures("formatted_once")

INTERRUPTED = """
import os, runpy, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.path.insert(0, {folder!r})
sys.argv = ["notes", {command!r}, *{arguments!r}]
runpy.run_module("notes", run_name="__main__", alter_sys=True)
"""
LIBRARY = """
import gc, json, os, signal, sys
# Python 3.12 freezes some objects itself.
frozen = gc.get_freeze_count()
import notes
before = sorted(name for name in sys.modules if name.partition(".")[0] in ("notes", "numpy"))
from notes import Hit, SearchResponse, load, search_hybrid
found = search_hybrid("seal")
print(json.dumps({
    "before": before,
    "frozen": gc.get_freeze_count() - frozen,
    "collects": gc.isenabled(),
    "interrupts": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "threads": os.environ.get("OPENBLAS_NUM_THREADS"),
    "found": isinstance(found, SearchResponse) and isinstance(found.hits[0], Hit),
    "names": dir(notes) == notes.__all__,
    "unknown": hasattr(notes, "unknown"),
}))
"""
COMMAND = """
import gc, json, os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
from notes.web.process import loading
with loading():
    from notes import load
    load()
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
def running():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self") else 1
# The system may see a thread a little longer.
for _ in range(1000):
    if running() > 1:
        time.sleep(0.01)
print(json.dumps({{
    "collects": gc.isenabled(),
    "frozen": gc.get_freeze_count() > 0,
    "interrupts": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "ignored": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
    "threads": os.environ["OPENBLAS_NUM_THREADS"],
    "running": running(),
}}))
"""


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Project(tmp_path_factory.mktemp("loading"))
    (project.root / "sources").mkdir()
    (project.root / "sources" / "note.md").write_text("# Pumps\n\nReplace the seal.\n")
    (project.root / "foundry.toml").write_text(CONFIG)
    project.succeed("build", "--quiet")
    return project.export()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("numpy.linalg", "search"),
        ("notes.cli", "search"),
        ("fastapi.routing", "serve"),
        ("notes.app", "serve"),
        ("uvicorn.protocols.http.httptools_impl", "serve"),
        ("notes.mcp.stdio", "mcp"),
    ],
)
def test_interrupt_while_a_server_loads_prints_nothing(
    export: Path, module: str, command: str
) -> None:
    arguments = {"search": ["seal"], "serve": ["--port", "0"]}.get(command, [])
    code = INTERRUPTED.format(
        module=module, folder=str(export), command=command, arguments=arguments
    )
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_library_is_imported_on_first_use_and_changes_nothing_else(export: Path) -> None:
    # Commands that ran earlier in this process may have set this variable.
    variables = {name: os.environ[name] for name in os.environ if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", LIBRARY],
        cwd=export,
        capture_output=True,
        check=True,
        env=variables,
    )
    assert json.loads(done.stdout) == {
        "before": ["notes"],
        "frozen": 0,
        "collects": True,
        "interrupts": True,
        "threads": None,
        "found": True,
        "names": True,
        "unknown": False,
    }


@pytest.mark.parametrize("module", ["notes", "notes.opening", "notes.search, notes.index.reader"])
def test_an_index_can_be_opened_whatever_was_imported_before(export: Path, module: str) -> None:
    code = (
        f"import {module}; from {module.rpartition(' ')[2]} import load;"
        " print(load(verify=False).chunk_count)"
    )
    command = [sys.executable, "-B", "-c", code]
    done = subprocess.run(command, cwd=export, capture_output=True, check=True, text=True)
    assert done.stdout == "1\n"


def test_an_unopened_index_error_names_the_import(export: Path) -> None:
    code = "from notes.index.reader import load; load()"
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=export, capture_output=True)
    assert b"no function to open it was set" in done.stderr


@pytest.mark.parametrize(
    ("shell", "heeded", "threads"),
    [("", True, "1"), ("trap '' INT; export OPENBLAS_NUM_THREADS=2;", False, "2")],
)
def test_command_works_normally_after_loading(
    export: Path, shell: str, heeded: bool, threads: str
) -> None:
    code = COMMAND.format(folder=str(export))
    command = ["sh", "-c", f'{shell} exec "$@"', "sh", sys.executable, "-B", "-c", code]
    done = subprocess.run(command, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert threads != "1" or found["running"] == 1
    assert {**found, "running": 1} == {
        "collects": True,
        "frozen": True,
        "interrupts": heeded,
        "ignored": not heeded,
        "threads": threads,
        "running": 1,
    }
