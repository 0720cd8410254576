"""Which changes below a folder affect a build: none to excluded, hidden or outside files."""

from pathlib import Path

import pytest

from foundry.config.sources import FolderSource
from foundry.sources.ignoring import concerns_any

FILES = (
    *("docs/a.md", "docs/a.txt", "docs/deep/b.md", "docs/old/c.md", "docs/deep/old/d.md"),
    *("docs/.hidden/e.md", "docs/.github/f.md", "docs/.note.md", "docs/.gitignore"),
    *("docs/deep/.gitignore", "docs/old/.gitignore", "docs/figures/g.png", "other/h.md"),
    *("docs/deep/shut/i.md", "docs/shut/j.md"),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def source_of(path: Path) -> FolderSource:
    patterns = {"include": ("**/*.md", ".github/**"), "exclude": ("old/", "/deep/shut/")}
    return FolderSource(name="docs", path=path, **patterns)


@pytest.mark.parametrize(
    ("name", "does_concern"),
    [
        ("docs", True),
        ("docs/a.md", True),
        ("docs/deep/b.md", True),
        ("docs/.github/f.md", True),
        ("docs/shut/j.md", True),
        ("docs/.gitignore", True),
        ("docs/deep/.gitignore", True),
        # These paths are folders, or were removed and may have been folders.
        ("docs/figures", True),
        ("docs/gone", True),
        ("docs/a.txt", False),
        ("docs/figures/g.png", False),
        ("docs/old", False),
        ("docs/old/c.md", False),
        ("docs/old/.gitignore", False),
        ("docs/deep/old/d.md", False),
        ("docs/deep/shut/i.md", False),
        ("docs/.hidden/e.md", False),
        ("docs/.note.md", False),
        ("docs/.git/gone", False),
        ("other/h.md", False),
        ("other", False),
        (".", False),
    ],
)
def test_a_change_affects_a_source_that_may_read_the_file(
    name: str, does_concern: bool, root: Path
) -> None:
    assert concerns_any([source_of(root / "docs")])(str(root / name)) is does_concern


def test_a_change_affects_a_source_behind_a_link(root: Path) -> None:
    (root / "linked").symlink_to("docs")
    concerns = concerns_any([source_of(root / "linked")])
    assert concerns(str(root / "docs/a.md"))
    assert not concerns(str(root / "docs/old/c.md"))


def test_a_change_that_affects_one_of_several_sources_counts(root: Path) -> None:
    sources = [source_of(root / "docs"), source_of(root / "other")]
    assert concerns_any(sources)(str(root / "other/h.md"))
    assert not concerns_any([])(str(root / "other/h.md"))
