"""Exporting over an edited export: replaced files, the owner's files, and the report."""

import os
from pathlib import Path

import pytest

from foundry.errors import ExportError
from foundry.export import decisions
from foundry.export.replacing import free_name, link_or_copy
from foundry.export.write import Export, warn_of_kept, write_export

BOTH = {"README.md": b"read\n", "acme/search.py": b"search\n", "acme/settings.json": b"{}\n"}
OLD = {**BOTH, "acme/gone.py": b"gone\n"}
NEW = {**BOTH, "acme/tools": b"a file\n"}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """An export whose owner has edited two files, and added others."""
    target = tmp_path / "dist" / "acme"
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "manifest.json").write_text("{}")
    assert write_export(target, export(tmp_path, OLD), force=False) == {}
    for name in ("search.py", "gone.py"):
        (target / "acme" / name).write_text("mine\n")
    (target / "acme" / "tools").mkdir()
    (target / "acme" / "tools" / "own.py").write_text("mine\n")
    (target / "notes.txt").write_text("mine\n")
    return target


def export(root: Path, files: dict[str, bytes]) -> Export:
    return Export(files, root / "index", "acme/data")


def test_edited_and_added_files_are_kept(target: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="4 files edited or added"):
        write_export(target, export(tmp_path, NEW), force=False)
    assert write_export(target, export(tmp_path, NEW), force=True) == {
        "acme/gone.py": "acme/gone.py",
        "acme/search.py": "acme/search.py.orig",
        "acme/tools": "acme/tools.orig",
    }
    assert (target / "acme" / "search.py").read_bytes() == NEW["acme/search.py"]
    assert (target / "acme" / "tools").read_bytes() == NEW["acme/tools"]
    for name in ("gone.py", "search.py.orig", "tools.orig/own.py"):
        assert (target / "acme" / name).read_text() == "mine\n"
    assert (target / "notes.txt").read_text() == "mine\n"
    assert sorted(path.name for path in target.parent.iterdir()) == ["acme"]


def test_kept_files_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(decisions.WENT, "gone.py", "in search.py, as find()")
    said: list[tuple[str, str]] = []
    kept = {"acme/gone.py": "acme/gone.py", "a.py": "a.py.orig", "gone.py": "gone.py"}
    warn_of_kept(tmp_path, kept, "acme", lambda *words: said.append(words))
    assert said == [
        (
            f"{tmp_path}: 3 files of yours not overwritten but kept:\n"
            "  a.py: replaced; yours is now a.py.orig\n"
            "  acme/gone.py: kept, no longer part of the export;"
            " its code is now in search.py, as find()\n"
            "  gone.py: kept, no longer part of the export",
            "move your edits to where the code is now, then delete the kept files; foundry update"
            " merges edits instead",
        )
    ]
    warn_of_kept(tmp_path, {}, "acme", lambda *words: said.append(words))
    assert len(said) == 1


def test_kept_files_get_a_free_name(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    found = []
    for _ in range(4):
        found.append(free_name(path).name)
        free_name(path).touch()
    assert found == ["a.py", "a.py.orig", "a.py.orig2", "a.py.orig3"]


def test_a_file_is_copied_if_hard_links_are_not_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_text("mine\n")
    link_or_copy(tmp_path / "old", tmp_path / "linked" / "a")
    assert (tmp_path / "linked" / "a").samefile(tmp_path / "old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    link_or_copy(tmp_path / "old", tmp_path / "copied" / "a")
    assert (tmp_path / "copied" / "a").read_text() == "mine\n"
    assert not (tmp_path / "copied" / "a").samefile(tmp_path / "old")
