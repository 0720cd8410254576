"""Publishing: a new version of an index appears at once and whole, or not at all.

The steps and their order are what makes that true on a machine that may stop at any of them: the
version is written under a temporary name, forced to disk, renamed; only then is CURRENT replaced.
"""

import shutil
from pathlib import Path

from foundry.indexing.files import replace_file, sync_folder, sync_tree

KEPT_VERSIONS = 2


def begin_version(index: Path) -> Path:
    """Make the folder to write the next version in; the caller holds the project's lock."""
    index.mkdir(parents=True, exist_ok=True)
    for leftover in index.glob("v*.tmp"):
        shutil.rmtree(leftover)
    folder = index / f"v{max([0, *_versions(index)]) + 1}.tmp"
    folder.mkdir()
    return folder


def publish_version(folder: Path) -> Path:
    """Make a finished version current; returns its folder. Older ones but the last are removed."""
    index, final = folder.parent, folder.with_suffix("")
    sync_tree(folder)
    folder.rename(final)
    sync_folder(index)
    replace_file(index / "CURRENT", f"{final.name}\n".encode())
    for number in sorted(_versions(index))[:-KEPT_VERSIONS]:
        shutil.rmtree(index / f"v{number}")
    return final


def _versions(index: Path) -> list[int]:
    names = (path.name for path in index.iterdir() if path.is_dir())
    return [int(name[1:]) for name in names if name[0] == "v" and name[1:].isdigit()]


def discard_version(folder: Path) -> None:
    """Remove a version that is not to be published."""
    shutil.rmtree(folder, ignore_errors=True)
