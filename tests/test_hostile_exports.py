"""Exports of hostile projects do nothing harmful; hostile indexes are rejected."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import CONFIG, MakeProject, Project
from processes import snapshot
from test_verify import restamp

from foundry.building.lock import hold_lock
from foundry.config.project import load_config
from foundry.rendering.environment import encode_toml

pytestmark = pytest.mark.usefixtures("formatted_once")

NOTE = {"note.md": "# Pumps\n\nReplace the D40 seal yearly.\n"}
ATTACK = (
    '"""+__import__("os").system("touch canary")+""" $(touch canary) `touch canary`;touch canary\n'
    "'; touch canary; '\" && touch canary #"
)
AUDIT = """
import sys
def watch(event, arguments):
    if event in {"os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "socket.connect"}:
        raise RuntimeError(f"{event} {arguments}")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise RuntimeError(f"{event} {arguments}")
sys.addaudithook(watch)
sys.path.insert(0, ".")
import notes, notes.app, notes.__main__
notes.app.create_app()
notes.search_hybrid("seal")
print("done")
"""


@pytest.fixture
def attacked(make_project: MakeProject) -> Project:
    text = encode_toml(ATTACK)
    config = CONFIG.replace(
        'name = "notes"', f'name = "notes"\ntitle = {text}\ndescription = {text}'
    )
    targets = '["docker", "compose", "kubernetes", "fly", "render", "railway", "systemd"]'
    config += f"[server]\nlanguage_model = true\nchat_instructions = {text}\n"
    config += f"[export]\ntargets = {targets}\n"
    project = make_project({"note.md": f"# Pumps\n\nReplace the seal. {ATTACK}\n"}, config=config)
    project.succeed("build", "--quiet")
    return project


def test_importing_an_export_has_no_side_effects(attacked: Project) -> None:
    exported = attacked.export()
    done = subprocess.run(
        [sys.executable, "-B", "-c", AUDIT],
        cwd=exported,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
    assert not list(attacked.root.parent.rglob("canary"))


@pytest.mark.slow
def test_shell_lines_parse_and_contain_no_text_of_the_project(attacked: Project) -> None:
    exported = attacked.export()
    readme = (exported / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", readme)
    docker = (exported / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    blocks += re.findall(r"(?m)^RUN (.*)$", docker)
    assert len(blocks) > 8
    for block in blocks:
        done = subprocess.run(
            ["sh", "-n"], input=block, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (block, done.stderr)
        assert "canary" not in block


@pytest.fixture
def built(make_project: MakeProject) -> Project:
    project = make_project(NOTE)
    project.succeed("build", "--quiet")
    return project


def refused(project: Project) -> str:
    result = project.run("export")
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert not (project.root / "dist").exists()
    return result.stderr


@pytest.mark.parametrize("name", ["evil.pkl", "evil.pth", "evil.so", "encoder/evil.so", ".hidden"])
def test_unknown_file_in_the_index_is_not_exported(name: str, built: Project) -> None:
    (built.index / name).write_bytes(b"")
    assert f"{name}: not in the manifest" in refused(built)


@pytest.mark.parametrize("name", ["evil.so", "encoder/evil.so", ".hidden"])
def test_link_in_the_index_is_not_exported(name: str, built: Project) -> None:
    (built.index / name).symlink_to("/etc/passwd")
    assert f"contains a link or a special file, index/v1/{name}, so it is not" in refused(built)


def test_link_in_place_of_a_file_of_the_index_is_not_exported(
    built: Project, tmp_path: Path
) -> None:
    path = built.index / "chunks.jsonl"
    shutil.move(path, tmp_path / "chunks.jsonl")
    path.symlink_to(tmp_path / "chunks.jsonl")
    assert "a link or a special file, index/v1/chunks.jsonl, so it is not used" in refused(built)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_invalid_scales_are_not_exported(value: float, built: Project) -> None:
    path = built.index / "vectors.scale.npy"
    scales = np.load(path, allow_pickle=False)
    scales[0] = value
    np.save(path, scales, allow_pickle=False)
    restamp(built, "vectors.scale.npy")
    assert "vectors.scale.npy" in refused(built)


@pytest.mark.slow
def test_concurrent_export_names_the_running_one(built: Project) -> None:
    exported = built.export()
    before = snapshot(exported)
    with hold_lock(load_config(built.root)):
        for command in (
            ["export", built.root],
            ["update", exported],
        ):
            done = subprocess.run(
                [sys.executable, "-m", "foundry", *command],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 1
            assert "is working on this project" in done.stderr
    assert snapshot(exported) == before


def test_too_long_instructions_are_refused(make_project: MakeProject) -> None:
    long = json.dumps("x" * 1_000_000)
    project = make_project(NOTE, config=f"{CONFIG}[server]\nchat_instructions = {long}\n")
    result = project.run("build")
    assert result.exit_code == 2
    assert "server.chat_instructions" in result.stderr
    assert len(result.stderr) < 2_000
