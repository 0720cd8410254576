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


def test_a_change_affects_a_source_that_may_read_the_file(root: Path) -> None:
    read = "docs docs/a.md docs/deep/b.md docs/.github/f.md docs/shut/j.md docs/.gitignore"
    read += " docs/deep/.gitignore"
    # These paths are folders, or were removed and may have been folders.
    folders = "docs/figures docs/gone"
    others = "docs/a.txt docs/figures/g.png docs/old docs/old/c.md docs/old/.gitignore"
    others += " docs/deep/old/d.md docs/deep/shut/i.md docs/.hidden/e.md docs/.note.md"
    others += " docs/.git/gone docs/.foundry/index/CURRENT other/h.md other ."
    concerns = concerns_any([source_of(root / "docs")])
    names = f"{read} {folders} {others}".split()
    assert [name for name in names if concerns(str(root / name))] == f"{read} {folders}".split()


def test_a_change_affects_a_source_behind_a_link(root: Path) -> None:
    (root / "linked").symlink_to("docs")
    concerns = concerns_any([source_of(root / "linked")])
    assert concerns(str(root / "docs/a.md"))
    assert not concerns(str(root / "docs/old/c.md"))


def test_a_change_that_affects_one_of_several_sources_counts(root: Path) -> None:
    sources = [source_of(root / "docs"), source_of(root / "other")]
    assert concerns_any(sources)(str(root / "other/h.md"))
    assert not concerns_any([])(str(root / "other/h.md"))
