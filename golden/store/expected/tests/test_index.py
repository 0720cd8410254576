"""The index: it is undamaged, damage is detected, and a newly published one is served."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from harbour import load
from harbour.errors import IndexUnusableError

INDEX = load()
# Other files are stored only in the engine.
FILES = sorted(name for name in INDEX.manifest.files if (INDEX.layout.root / name).is_file())
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
