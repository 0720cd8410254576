"""The wheel works when installed without a checkout and without a network."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Project
from processes import is_possible, snapshot
from servers import alone, run_uv
from sharing import formatted_once

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = folder / "checkout"
    ignored = shutil.ignore_patterns("__pycache__", ".foundry", "dist")
    for name in ("foundry", "templates"):
        shutil.copytree(ROOT / name, checkout / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, checkout / name)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "out"],
        cwd=checkout,
        check=True,
        capture_output=True,
    )
    return next((folder / "out").glob("*.whl"))


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`foundry` in a separate environment."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    run_uv("venv", environment)
    run_uv("pip", "install", "--python", environment, wheel)
    return environment / "bin" / "foundry"


def run(command: Sequence[str | Path], folder: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def test_wheel_contains_only_needed_files(wheel: Path) -> None:
    import zipfile

    names = zipfile.ZipFile(wheel).namelist()
    assert "foundry/_templates/server/package/search.py.jinja" in names
    assert "foundry/_templates/foundry.toml.jinja" in names
    assert "foundry/models/static-en/pieces.txt" in names
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"foundry", "rag_foundry"}
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


OFFLINE = """
import json, re, subprocess, sys, urllib.request
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
command = [*sys.argv[1:], "serve", "--port", "0"]
server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
try:
    address = re.search(r"http://\\S+?:\\d+", server.stderr.readline())[0]
    with urllib.request.urlopen(address + "/search?q=seal", timeout=120) as reply:
        print(json.load(reply)["results"][0]["path"])
finally:
    server.terminate()
    server.wait(120)
"""


def test_installed_wheel_works_like_the_checkout_without_a_network(
    command: Path, tmp_path: Path
) -> None:
    offline = ["unshare", "--net", "--map-root-user"]
    if not is_possible(*offline, "true"):
        offline = []
    (tmp_path / "docs").mkdir()
    note = "# Seals\n\nReplace the D40 seal yearly.\n"
    (tmp_path / "docs" / "note.md").write_text(note, encoding="utf-8")
    installed = [*offline, command]
    run([*installed, "init", "project", "--source", "docs"], tmp_path)
    run([*installed, "build", "project"], tmp_path)
    assert "note.md" in run([*installed, "query", "project", "seal"], tmp_path)
    run([*installed, "export", "project"], tmp_path)
    assert "ok: " in run([*installed, "verify", "project"], tmp_path)
    python = command.with_name("python")
    where = "from foundry.files import templates_folder as f; print(f())"
    assert "site-packages/foundry/_templates" in run([python, "-c", where], tmp_path)

    project = Project(tmp_path / "project")
    exported = project.root / "dist" / "project"
    if offline and shutil.which("ip"):
        start = alone(exported)
        assert run([*offline, sys.executable, "-c", OFFLINE, *start], tmp_path) == "note.md\n"

    of_wheel = snapshot(exported)
    shutil.rmtree(project.root / "dist")
    shutil.rmtree(project.root / ".foundry")
    project.succeed("build", "--quiet")
    with formatted_once():
        assert snapshot(project.export()) == of_wheel
