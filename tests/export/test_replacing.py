"""A folder is replaced in one step, and nothing is lost if that fails."""

import shutil
from pathlib import Path

import pytest

from foundry.errors import ExportError
from foundry.export.replacing import link_or_copy, replace_folder


def test_a_new_folder_is_created_with_its_parents(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    replace_folder(target, lambda folder: (folder / "new.txt").touch())
    assert [path.name for path in target.iterdir()] == ["new.txt"]
    replace_folder(target, lambda _folder: None)
    assert [*target.iterdir()] == []
    assert [path.name for path in target.parent.iterdir()] == ["b"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            shutil.Error(
                [("in/a.md", "out/a.md", "[Errno 28] no space: out/a.md"), ("b", "b", "x")]
            ),
            "a.md: [Errno 28] no space",
        ),
        (shutil.Error("the same file"), "the same file"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("it broke"), "it broke"),
    ],
)
def test_a_full_or_broken_disk_changes_nothing(tmp_path: Path, error: OSError, said: str) -> None:
    target = tmp_path / "acme"
    target.mkdir()
    (target / "old.txt").touch()

    def fill(folder: Path) -> None:
        (folder / "new.txt").touch()
        raise error

    with pytest.raises(ExportError) as raised:
        replace_folder(target, fill)
    assert raised.value.message == f"{target}: cannot be written: {said}; nothing was changed"
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == [
        "acme",
        "acme/old.txt",
    ]


def test_an_interrupt_is_passed_on_and_nothing_is_left_behind(tmp_path: Path) -> None:
    def fill(_folder: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace_folder(tmp_path / "acme", fill)
    assert [*tmp_path.iterdir()] == []


def test_a_link_to_the_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    link_or_copy(tmp_path / "link", tmp_path / "new" / "link")
    assert (tmp_path / "new" / "link").readlink() == Path("file")
