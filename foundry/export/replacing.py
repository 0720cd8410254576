"""Replaces a folder in one step, keeping the owner's files.

The new folder is written next to the old one and takes its place when it is complete. An
interrupted command may leave the old folder under another name, which the next command restores.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from foundry.errors import ExportError
from foundry.export.checksums import BY_PRODUCTS, list_files
from foundry.files import sync_folder, sync_tree


def settle(target: Path) -> None:
    """Reject a target behind a link; undo an interrupted command.

    This comes first, because an interrupted command may have left the owner's files under another
    name. Raises ExportError.
    """
    for link in [path for path in (target, *target.parents) if path.is_symlink()]:
        raise ExportError(f"{target}: {link} is a link", hint="use the path of the real folder")
    _recover(target)


def replace_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a new folder next to `target`, then put it in its place.

    If the new folder cannot be written, the old one stays in place. Raises ExportError for errors
    of the file system.
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
            f"{target}: was written, but cannot be synced to disk: {error.strerror}",
            hint="check the disk, then export again",
        ) from None
    shutil.rmtree(retired, ignore_errors=True)


def _reason(error: OSError) -> str:
    """Return the system's message; if a whole tree was copied, the message for its first file."""
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


def take_over(old: Path, new: Path, is_foundrys: Callable[[str], bool]) -> dict[str, str]:
    """Link or copy every file that is not Foundry's from `old` to `new`.

    If its name is taken there, a file gets the suffix .orig. Returns these names, old -> new.
    """
    folders = {
        parent.as_posix()
        for name in list_files(old)
        if is_foundrys(name)
        for parent in PurePosixPath(name).parents
    }
    return dict(_take_over(old, new, "", is_foundrys, folders))


def free_name(path: Path) -> Path:
    """Return the path, with .orig, .orig2 ... appended if it is taken."""
    free, number = path, 1
    while os.path.lexists(free):
        free = path.with_name(f"{path.name}.orig{number if number > 1 else ''}")
        number += 1
    return free


def link_or_copy(old: str | Path, new: str | Path) -> None:
    """Hard-link a file, or copy it if that is not possible.

    Special files, such as sockets, are skipped in that case.
    """
    Path(new).parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
        mode = os.lstat(old).st_mode
        if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            shutil.copy2(old, new, follow_symlinks=False)


def _take_over(
    old: Path, new: Path, prefix: str, is_foundrys: Callable[[str], bool], folders: set[str]
) -> Iterator[tuple[str, str]]:
    for path in sorted(old.iterdir()):
        name = prefix + path.name
        if path.name in BY_PRODUCTS:
            continue
        if path.is_dir() and not path.is_symlink():
            if name in folders:
                yield from _take_over(path, new / path.name, f"{name}/", is_foundrys, folders)
                continue
            place = new / path.name
            if place.is_file():
                place = free_name(place)
            shutil.copytree(
                path, place, symlinks=True, copy_function=link_or_copy, dirs_exist_ok=True
            )
        elif not is_foundrys(name):
            place = free_name(new / path.name)
            link_or_copy(path, place)
        else:
            continue
        if place.name != path.name:
            yield name, prefix + place.name
