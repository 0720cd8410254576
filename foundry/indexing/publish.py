"""Publishing: a new version of an index appears at once and whole, or not at all.

The steps and their order are what makes that true on a machine that may stop at any of them: the
version is written under a temporary name, forced to disk, renamed; only then is CURRENT replaced.
"""

import shutil
from pathlib import Path

from foundry.storage.files import replace_file, set_modes, sync_folder, sync_tree

KEPT_VERSIONS = 2


def begin_version(index: Path) -> Path:
    """Make the folder to write the next version in; the caller holds the project's lock.

    What builds that were stopped have left is removed, versions that never became current too:
    the two that are kept must be the current one and the one before it.
    """
    index.mkdir(parents=True, exist_ok=True)
    (index / "CURRENT.tmp").unlink(missing_ok=True)
    if (index / "CURRENT").is_dir():
        # Nothing can replace a folder in one step, and no version is current that it names.
        shutil.rmtree(index / "CURRENT")
    for leftover in index.glob("v*.tmp"):
        shutil.rmtree(leftover)
    current = _current_number(index)
    for number in _versions(index):
        if current is not None and number > current:
            shutil.rmtree(index / f"v{number}")
    folder = index / f"v{max([0, *_versions(index)]) + 1}.tmp"
    folder.mkdir()
    return folder


def publish_version(folder: Path) -> Path:
    """Make a finished version current; returns its folder. Older ones but the last are removed."""
    index, final = folder.parent, folder.with_suffix("")
    set_modes(folder)
    sync_tree(folder)
    folder.rename(final)
    sync_folder(index)
    replace_file(index / "CURRENT", f"{final.name}\n".encode())
    for number in sorted(_versions(index))[:-KEPT_VERSIONS]:
        # It is published: what cannot be removed now is tried again after the next build.
        shutil.rmtree(index / f"v{number}", ignore_errors=True)
    return final


def discard_version(folder: Path) -> None:
    """Remove a version that is not to be published."""
    shutil.rmtree(folder, ignore_errors=True)


def _versions(index: Path) -> list[int]:
    names = (path.name for path in index.iterdir() if path.is_dir())
    return [number for name in names if (number := _number(name)) is not None]


def _current_number(index: Path) -> int | None:
    try:
        name = (index / "CURRENT").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return _number(name) if (index / name).is_dir() else None


def _number(name: str) -> int | None:
    digits = name[1:]
    return int(digits) if name[:1] == "v" and digits.isascii() and digits.isdigit() else None
