"""The index: it is undamaged, damage is detected, and a newly published one is served."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from observatory import load
from observatory.errors import IndexUnusableError
from observatory.index.reader import served

INDEX = load()
FILES = sorted(INDEX.manifest.files)
ADDRESS = re.compile(r"Serving .* on (http://\S+?:[0-9]+)")
FOLDERS = sorted({name.partition("/")[0] for name in FILES if "/" in name})


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[Path]:
    """A copy of the index to damage; the original is served again afterwards."""
    yield Path(shutil.copytree(INDEX.layout.root, tmp_path / "index"))
    load()


def test_index_is_intact() -> None:
    assert INDEX.verify() == []


@pytest.mark.parametrize("name", FILES)
def test_damage_to_a_file_is_noticed(name: str, copied: Path) -> None:
    file = copied / name
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if content else b"!")
    assert name in findings(copied)


def test_file_of_another_length_or_none_is_noticed(copied: Path) -> None:
    file = copied / FILES[0]
    file.write_bytes(file.read_bytes() + b"!")
    assert FILES[0] in findings(copied)
    file.unlink()
    assert FILES[0] in findings(copied)


def findings(index: Path) -> str:
    try:
        return "; ".join(load(index, verify=False).verify())
    except IndexUnusableError as error:
        assert error.hint
        return error.message


def test_file_that_does_not_belong_to_the_index_is_noticed(copied: Path) -> None:
    (copied / "stranger.bin").write_bytes(b"!")
    assert "stranger.bin" in findings(copied)


@pytest.mark.parametrize("name", [FILES[0], *FOLDERS, "stranger"])
def test_link_out_of_the_index_is_noticed(name: str, copied: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    if (copied / name).exists():
        (copied / name).rename(outside)
    else:
        outside.write_bytes(b"!")
    (copied / name).symlink_to(outside)
    assert name in findings(copied)


@pytest.mark.parametrize("name", ["", "v", "vx", "7", "../v1"])
def test_invalid_current_file_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text(name)
    with pytest.raises(IndexUnusableError, match="does not name a version"):
        load(tmp_path)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", "null"])
def test_damaged_manifest_is_noticed(manifest: str, copied: Path) -> None:
    (copied / "manifest.json").write_text(manifest)
    with pytest.raises(IndexUnusableError, match=r"manifest\.json"):
        load(copied)


def test_unusable_index_does_not_replace_the_served_one(client: TestClient, copied: Path) -> None:
    before = client.get("/readyz").json()
    assert (before["status"], before["verified"]) == ("ok", True)
    (copied / FILES[0]).unlink()
    with pytest.raises(IndexUnusableError):
        load(copied)
    assert client.get("/readyz").json() == before
    assert client.get("/search?q=a").status_code == 200


def test_damaged_index_answers_no_requests(
    client: TestClient, copied: Path, caplog: pytest.LogCaptureFixture
) -> None:
    load(copied, verify=False)
    (copied / FILES[0]).write_bytes(b"!")
    served.verify()
    for path in ("/readyz", "/search?q=a"):
        refused = client.get(path)
        assert refused.status_code == 503
        assert FILES[0] in refused.json()["detail"]
        assert str(copied) not in refused.text
    assert f"the index is damaged: {FILES[0]}" in caplog.text


@contextmanager
def serving(*options: str, **variables: str) -> Iterator[str]:
    """Run the server as its owner would, on a free port; yields its address."""
    command = [sys.executable, "-m", "observatory", "serve", "--port", "0", *options]
    root = Path(__file__).parent.parent
    with subprocess.Popen(
        command, cwd=root, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        try:
            lines = iter(process.stderr.readline, "")
            address = next(found[1] for line in lines if (found := ADDRESS.search(line)))
            yield address
        finally:
            process.terminate()
            process.stderr.read()
    assert process.returncode == 0


def test_workers_answer_and_stop_together(callers_headers: dict[str, str]) -> None:
    with serving("--workers", "2") as address:
        for _ in range(8):
            asked = urllib.request.Request(f"{address}/search?q=a", headers=callers_headers)
            with urllib.request.urlopen(asked) as answer:
                assert answer.status == 200
        # A request is counted and logged a moment after its response was sent.
        counted = 'http_requests_total{method="GET",route="/search",status="200"} 8.0'
        for _ in range(1000):
            asked = urllib.request.Request(f"{address}/metrics", headers=callers_headers)
            with urllib.request.urlopen(asked) as answer:
                lines = answer.read().decode().splitlines()
            if counted in lines:
                break
            time.sleep(0.05)
        assert counted in lines


def wait_for(address: str, **wanted: object) -> None:
    """Wait until the server reports this state."""
    state: Any = {}
    for _ in range(1000):
        with urllib.request.urlopen(f"{address}/readyz") as answer:
            state = json.load(answer)
        if {name: state[name] for name in wanted} == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(state)


def test_index_that_is_published_is_served_without_a_restart(tmp_path: Path) -> None:
    def publish(name: str) -> str:
        """Publish a copy of the index as a new version."""
        shutil.copytree(INDEX.layout.root, tmp_path / name)
        manifest = replace(INDEX.manifest, config_sha256=name)
        (tmp_path / name / "manifest.json").write_bytes(manifest.to_bytes())
        (tmp_path / "CURRENT.new").write_text(name)
        (tmp_path / "CURRENT.new").replace(tmp_path / "CURRENT")
        return manifest.version

    first = publish("v1")
    with serving(INDEX_DIR=str(tmp_path)) as address:
        wait_for(address, index_version=first, status="ok")
        second = publish("v2")
        assert second != first
        wait_for(address, index_version=second, status="ok")
