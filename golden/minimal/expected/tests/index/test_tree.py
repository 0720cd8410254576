"""Listing a folder: all kinds of files, all names, and no blocking."""

import os
import socket
from pathlib import Path

import pytest

from workshop.index.tree import (
    FILE,
    LINK,
    MAX_DEPTH,
    Entry,
    read_file,
    shown,
    walk,
)


def test_everything_but_folders_is_named_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("b/inner", "left/out", "empty"):
        Path(folder).mkdir(parents=True)
    Path("b/inner/file").write_text("four")
    Path("left/out/file").touch()
    Path("c").symlink_to("b")
    os.mkfifo("d")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("e")
    Path(os.fsdecode(b"f\xff")).touch()
    assert list(walk(tmp_path, {"out"})) == [
        Entry("b/inner/file", FILE, 4),
        Entry("c", LINK, 1),
        Entry("d", "named pipe"),
        Entry("e", "socket"),
        Entry("f\udcff", FILE),
    ]


def test_nests_end_where_nobody_looks_any_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1_100):
        Path("d").mkdir()
        os.chdir("d")
    found = list(walk(tmp_path))
    # Python's own functions cannot remove such deep folders.
    for _ in range(1_100):
        os.chdir("..")
        Path("d").rmdir()
    assert found == [
        Entry(
            "/".join("d" * (MAX_DEPTH + 1)),
            f"folder nested more than {MAX_DEPTH} levels deep",
            is_folder=True,
        )
    ]


def test_only_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"four")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert read_file(tmp_path / "link", 4) == b"four"
    with pytest.raises(OSError, match="has more than"):
        read_file(tmp_path / "file", 3)
    with pytest.raises(OSError, match="is a named pipe, not a file"):
        read_file(tmp_path / "pipe")
    with pytest.raises(OSError, match="is a folder, not a file"):
        read_file(tmp_path)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (b"caf\xc3\xa9 1", "caf\u00e9 1"),
        (b"caf\xe9", r"caf\xe9"),
        (b"a\nb\x1b", r"a\x0ab\x1b"),
        (b"\xe2\x80\xae", r"\u202e"),
        (b"\xc2\xa0", r"\xa0"),
    ],
)
def test_names_are_written_for_people(name: bytes, written: str) -> None:
    assert shown(os.fsdecode(name)) == written
