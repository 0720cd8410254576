"""Puts a folder in the place of another in one step, and undoes what a stopped command left."""

import shutil
from collections.abc import Callable
from pathlib import Path

from foundry.errors import ExportError
from foundry.files import sync_folder, sync_tree


def settle(target: Path) -> None:
    """Refuse a target that is reached through a link; undo what was stopped midway.

    First of all, because a stopped command may have left the owner's files under another name.
    Raises ExportError.
    """
    for link in [path for path in (target, *target.parents) if path.is_symlink()]:
        raise ExportError(f"{target}: {link} is a link", hint="name the real folder")
    _recover(target)


def replace_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a new folder beside `target`, then put it in its place.

    Whatever goes wrong, the old folder stands. Raises ExportError for what the disk refuses.
    """
    staging, retired = _beside(target, "new"), _beside(target, "old")
    try:
        staging.mkdir(parents=True)
        fill(staging)
        sync_tree(staging)
        if target.exists():
            target.rename(retired)
        staging.rename(target)
    except BaseException as error:
        _recover(target)
        if not isinstance(error, OSError):
            raise
        raise ExportError(
            f"{target}: cannot be written: {_reason(error)}; nothing was changed",
            hint="check the free space and the permissions of the folder above it",
        ) from None
    try:
        sync_folder(target.parent)
    except OSError as error:
        raise ExportError(
            f"{target}: was written, but the disk does not confirm it: {error.strerror}",
            hint="check the disk, then export again",
        ) from None
    shutil.rmtree(retired, ignore_errors=True)


def _reason(error: OSError) -> str:
    """Return what the disk said; of a tree that could not be copied, what it said of the first
    file."""
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        source, _, reason = error.args[0][0]
        return f"{Path(source).name}: {reason.partition(': ')[0]}"
    return error.strerror or str(error)


def _recover(target: Path) -> None:
    staging, retired = _beside(target, "new"), _beside(target, "old")
    if retired.exists() and not target.exists():
        retired.rename(target)
    for leftover in (staging, retired):
        if leftover.exists():
            shutil.rmtree(leftover)


def _beside(target: Path, role: str) -> Path:
    return target.with_name(f".{target.name}.foundry-{role}")
