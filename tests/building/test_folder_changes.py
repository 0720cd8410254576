"""The folders that a build reads are watched up to a limit; reaching it is reported."""

import os
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_until

from foundry.building import folder_changes
from foundry.building.folder_changes import watch_folders
from foundry.config.sources import FolderSource
from foundry.serving.options import Watched

Watching = Generator[bool | Watched, None, None]


def source_of(path: Path, **options: Any) -> FolderSource:
    return FolderSource(name=path.name, path=path, **options)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in ("docs/a/deep", "docs/b", "elsewhere/x", "elsewhere/y"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "docs"


def begin(watching: Watching) -> Watched:
    """Set up the watches; returns the messages about them."""
    told = next(watching)
    assert isinstance(told, Watched)
    assert next(watching) is True
    return told


def is_quiet(watching: Watching) -> bool:
    """Whether no change is noticed for at least half a second."""
    return not any(next(watching) is True for _ in range(10))


def wait_for_change(watching: Watching) -> None:
    wait_until(lambda: next(watching) is True)


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_changes, "QUIET_MS", 50)


def test_only_folders_that_the_reader_enters_are_watched(docs: Path) -> None:
    (docs / ".gitignore").write_text("ignored/\n")
    for name in ("ignored", ".hidden/x", "left/out", "node"):
        (docs / name).mkdir(parents=True)
    with closing(watch_folders([source_of(docs, exclude=("left/",))])) as watching:
        # The watched folders are the root, a, a/deep, b and node.
        assert begin(watching) == Watched(5, 5)
        for name in ("ignored", ".hidden/x", "left/out"):
            (docs / name / "f.md").write_text("x")
        assert is_quiet(watching)
        (docs / "a" / "deep" / "f.md").write_text("x")
        wait_for_change(watching)


def test_no_link_is_followed(docs: Path, tmp_path: Path) -> None:
    (docs / "linked").symlink_to(tmp_path / "elsewhere")
    (docs / "loop").symlink_to(docs)
    (docs / "a" / "up").symlink_to("..")
    with closing(watch_folders([source_of(docs)])) as watching:
        assert begin(watching) == Watched(4, 4)
        (tmp_path / "elsewhere" / "x" / "f.md").write_text("x")
        assert is_quiet(watching)


def test_a_source_that_is_a_link_is_watched(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to("docs")
    with closing(watch_folders([source_of((tmp_path / "linked").resolve())])) as watching:
        assert begin(watching) == Watched(4, 4)
        (docs / "b" / "f.md").write_text("x")
        wait_for_change(watching)


def test_new_and_removed_folders_are_followed(docs: Path) -> None:
    with closing(watch_folders([source_of(docs)])) as watching:
        begin(watching)
        (docs / "new" / "below").mkdir(parents=True)
        wait_for_change(watching)
        assert is_quiet(watching)
        (docs / "new" / "below" / "f.md").write_text("x")
        wait_for_change(watching)
        (docs / "new" / "below" / "f.md").unlink()
        (docs / "new" / "below").rmdir()
        (docs / "new" / "below").write_text("a file now")
        wait_for_change(watching)
        (docs / "new" / "below").write_text("another text")
        wait_for_change(watching)
        (docs / ".gitignore").write_text("new/\n")
        wait_for_change(watching)
        assert is_quiet(watching)
        (docs / "new" / "f.md").write_text("x")
        assert is_quiet(watching)


def test_a_folder_of_several_sources_is_watched_once(docs: Path, tmp_path: Path) -> None:
    sources = [source_of(docs), source_of(docs / "a"), source_of(tmp_path / "elsewhere")]
    with closing(watch_folders(sources)) as watching:
        assert begin(watching) == Watched(7, 7)
        (tmp_path / "elsewhere" / "y" / "f.md").write_text("x")
        wait_for_change(watching)


def test_watches_are_bounded_and_those_near_the_root_come_first(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_changes, "MAX_FOLDERS", 3)
    with closing(watch_folders([source_of(docs)])) as watching:
        assert begin(watching) == Watched(3, 4, "at most 3 can be watched; exclude some")
        (docs / "a" / "deep" / "f.md").write_text("x")
        assert is_quiet(watching)
        (docs / "b" / "f.md").write_text("x")
        wait_for_change(watching)


def test_a_folder_with_a_name_that_is_not_utf8_is_reported(docs: Path) -> None:
    Path(os.fsdecode(os.fsencode(docs) + b"/caf\xe9")).mkdir()
    with closing(watch_folders([source_of(docs)])) as watching:
        told = begin(watching)
        (left,) = told.left
        assert (told.watched, left.source, left.detail) == (4, "docs", "its name is not UTF-8")
        Path(os.fsdecode(os.fsencode(docs) + b"/a/caf\xe9.md")).write_text("x")
        wait_for_change(watching)
        (docs / "b" / "f.md").write_text("x")
        wait_for_change(watching)
