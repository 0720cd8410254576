"""Writes an export: beside the target first, then into its place in one step.

What stands at the target is replaced only if Foundry wrote it. Files that its owner edited or added
stop the export; with `force` edited files are kept beside the new ones as `.orig`, added ones stay.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from foundry.errors import ExportError
from foundry.exporting.checksums import CHECKSUMS, Differences, compare, format_checksums
from foundry.files import hash_file, set_modes, sync_folder, sync_tree


def write_export(
    target: Path, files: Mapping[str, bytes], index: Path, index_place: str, *, force: bool
) -> None:
    """Write `files` and a copy of the `index` folder (at `index_place`) as the folder `target`.

    Raises ExportError before anything is written when the target cannot be used.
    """
    _refuse_links(target)
    staging, retired = _beside(target, "new"), _beside(target, "old")
    # First, because a stopped export may have left the owner's files under the other name.
    _recover(target, staging, retired)
    differences = _examine(target, force=force)
    try:
        staging.mkdir(parents=True)
        _fill(staging, files, index, index_place)
        set_modes(staging)
        if target.exists():
            _keep_owners_files(target, staging, differences)
        sync_tree(staging)
        if target.exists():
            target.rename(retired)
        staging.rename(target)
    except BaseException as error:
        _recover(target, staging, retired)
        if not isinstance(error, OSError):
            raise
        raise ExportError(
            f"{target}: cannot be written: {error.strerror or error}; nothing was changed",
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


def _refuse_links(target: Path) -> None:
    for link in [path for path in (target, *target.parents) if path.is_symlink()]:
        raise ExportError(f"{target}: {link} is a link", hint="name the real folder")


def _examine(target: Path, *, force: bool) -> Differences:
    nothing = Differences([], [], [])
    if not target.exists():
        return nothing
    if not target.is_dir():
        raise ExportError(f"{target}: is not a folder", hint="choose another folder with --output")
    if not any(target.iterdir()):
        return nothing
    if not (target / CHECKSUMS).is_file():
        raise ExportError(
            f"{target}: holds files that Foundry did not write",
            hint="choose another folder with --output, or empty this one",
        )
    differences = compare(target)
    owned = [*differences.changed, *differences.unknown]
    if owned and not force:
        shown = "".join(f"\n  {name}" for name in owned[:20])
        more = f"\n  and {len(owned) - 20} more" if len(owned) > 20 else ""
        raise ExportError(
            f"{target}: {len(owned)} files were edited or added since the export:{shown}{more}",
            hint="export to another folder with --output, or pass --force: edited files are then"
            " kept as .orig, added ones stay",
        )
    return differences


def _recover(target: Path, staging: Path, retired: Path) -> None:
    """Undo whatever an export that was stopped midway has left."""
    if retired.exists() and not target.exists():
        retired.rename(target)
    for leftover in (staging, retired):
        if leftover.exists():
            shutil.rmtree(leftover)


def _fill(folder: Path, files: Mapping[str, bytes], index: Path, index_place: str) -> None:
    digests = {}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        digests[name] = hash_file(path)
    shutil.copytree(index, folder / index_place)
    for path in sorted((folder / index_place).rglob("*")):
        if path.is_file():
            digests[path.relative_to(folder).as_posix()] = hash_file(path)
    (folder / CHECKSUMS).write_bytes(format_checksums(digests))


def _keep_owners_files(target: Path, staging: Path, differences: Differences) -> None:
    # Added files first: one of them may be what an earlier export kept as .orig.
    for name in (*differences.unknown, *differences.changed):
        kept = _free_name(staging / name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(target / name, kept, follow_symlinks=False)


def _free_name(path: Path) -> Path:
    free, number = path, 1
    while os.path.lexists(free):
        free = path.with_name(f"{path.name}.orig{number if number > 1 else ''}")
        number += 1
    return free


def _beside(target: Path, role: str) -> Path:
    return target.with_name(f".{target.name}.foundry-{role}")


def check_target(target: Path, project: Path) -> Path:
    """The absolute target, refused if it is, or holds, something that must not be replaced."""
    # Not resolved: a link on the way is to be seen and refused, not followed.
    absolute = Path(os.path.abspath(target))  # noqa: PTH100
    # Path.home raises where the user has no home, as in some containers.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111
    for taken, what in (
        (project, "the project"),
        (home, "the home folder"),
        (home.resolve(), "the home folder"),
    ):
        if absolute == taken or absolute in taken.parents:
            raise ExportError(
                f"{absolute}: is {what} or holds it", hint="choose another folder with --output"
            )
    if (project / ".foundry") in (absolute, *absolute.parents):
        raise ExportError(
            f"{absolute}: lies in the project's own state",
            hint="choose another folder with --output",
        )
    return absolute
