"""Writes an export: beside the target first, then into its place in one step.

What stands at the target is replaced only if Foundry wrote it. Files that its owner edited or added
stop the export; with `force` edited files are kept beside the new ones as `.orig`, added ones stay.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from foundry.errors import ExportError
from foundry.exporting.checksums import (
    CHECKSUMS,
    Differences,
    compare,
    format_checksums,
    hash_file,
)
from foundry.indexing.files import sync_folder, sync_tree

FILE_MODE = 0o644
FOLDER_MODE = 0o755


def write_export(
    target: Path, files: Mapping[str, bytes], index: Path, index_place: str, *, force: bool
) -> None:
    """Write `files` and a copy of the `index` folder (at `index_place`) as the folder `target`.

    Raises ExportError before anything is written when the target cannot be used.
    """
    differences = _examine(target, force=force)
    staging, retired = _beside(target, "new"), _beside(target, "old")
    _recover(target, staging, retired)
    try:
        staging.mkdir(parents=True)
        _fill(staging, files, index, index_place)
        if target.exists():
            _keep_owners_files(target, staging, differences)
        _set_modes(staging)
        sync_tree(staging)
        if target.exists():
            target.rename(retired)
        staging.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        _recover(target, staging, retired)
        raise ExportError(
            f"{target}: cannot be written: {error.strerror or error}; nothing was changed",
            hint="check the free space and the permissions of the folder above it",
        ) from None
    shutil.rmtree(retired, ignore_errors=True)


def _examine(target: Path, *, force: bool) -> Differences:
    nothing = Differences([], [], [])
    for link in [path for path in (target, *target.parents) if path.is_symlink()]:
        raise ExportError(f"{target}: {link} is a link", hint="name the real folder")
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
    for name in (*differences.changed, *differences.unknown):
        kept = staging / (f"{name}.orig" if name in differences.changed else name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(target / name, kept, follow_symlinks=False)


def _set_modes(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)


def _beside(target: Path, role: str) -> Path:
    return target.with_name(f".{target.name}.foundry-{role}")


def check_target(target: Path, project: Path) -> Path:
    """The absolute target, refused if it is, or holds, something that must not be replaced."""
    # Not resolved: a link on the way is to be seen and refused, not followed.
    absolute = Path(os.path.abspath(target))  # noqa: PTH100
    for taken, what in ((project, "the project"), (Path.home(), "the home folder")):
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
