"""Writes an export: next to the target first, then into its place in one step.

An existing folder is replaced only if Foundry wrote it. Files that its owner edited or added
stop the export; with `force` edited files are kept beside the new ones as `.orig`, added ones stay.
An update (`export.update`) merges instead.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.errors import ExportError
from foundry.export.checksums import BY_PRODUCTS, CHECKSUMS, format_checksums
from foundry.export.decisions import where_code_went
from foundry.export.existing import GENERATED, Existing, encode_generated, examine
from foundry.files import hash_file, hash_files, set_modes, sync_folder, sync_tree, write_files
from foundry.state.folder import STATE
from foundry.terminal import count_of, list_briefly


@dataclass(frozen=True, slots=True)
class Export:
    """The parts of an export, by relative path.

    `files` are all but the index and what is written about both. The folder `index` goes to
    `index_place`, less the files `left_out`, because an engine holds what is in them.
    """

    files: Mapping[str, bytes]
    index: Path
    index_place: str
    left_out: frozenset[str] = frozenset()

    @property
    def package(self) -> str:
        """The name of the package, which holds the index."""
        return self.index_place.partition("/")[0]

    def all_files(self) -> dict[str, bytes]:
        """Return the files, with the record of what was generated."""
        return {**self.files, GENERATED: encode_generated(self.files)}

    def is_left_out(self, path: Path) -> bool:
        """Return whether a file of the index is one of those that are not copied."""
        return path.relative_to(self.index).as_posix() in self.left_out

    def index_digests(self) -> dict[str, str]:
        """Return the SHA-256 of every file of the index, by its path in the export."""
        return {
            f"{self.index_place}/{path.relative_to(self.index).as_posix()}": hash_file(path)
            for path in sorted(self.index.rglob("*"))
            if path.is_file() and not self.is_left_out(path)
        }


def write_export(target: Path, export: Export, *, force: bool) -> dict[str, str]:
    """Write an export as the folder `target`.

    Returns relative paths of the owner's files, those that were edited and those whose names the
    export has taken, each with the path where it is now. Raises ExportError before anything is
    written when the target cannot be used.
    """
    settle(target)
    existing = find_existing(target)
    if existing is not None and existing.owned and not force:
        owned = existing.owned
        raise ExportError(
            f"{target}: {len(owned)} files were edited or added since the export:\n"
            + list_briefly(owned, 20),
            hint="foundry update merges them with what is new; or export to another folder with"
            " --output, or pass --force: edited files are then kept as .orig, added ones stay",
        )

    kept: dict[str, str] = {}

    def fill(folder: Path) -> None:
        files = export.all_files()
        digests = {**hash_files(files), **export.index_digests()}
        fill_folder(folder, {**files, CHECKSUMS: format_checksums(digests)}, export)
        set_modes(folder)
        if existing is not None:
            # Added files first: one of them may be what an earlier export kept as .orig.
            kept.update(take_over(target, folder, existing.is_foundrys))
            for name in existing.edited:
                place = free_name(folder / name)
                link_or_copy(target / name, place)
                kept[name] = place.relative_to(folder).as_posix()

    replace_folder(target, fill)
    return kept


def warn_of_kept(
    target: Path, kept: Mapping[str, str], package: str, warn: Callable[[str, str], object]
) -> None:
    """Say of each file that `write_export` kept where it is, and where its code went."""
    if not kept:
        return
    lines = []
    for name, place in sorted(kept.items()):
        if place != name:
            lines.append(f"{name}: written anew; yours is now {place}")
        elif went := where_code_went(name, package):
            lines.append(f"{name}: kept, no longer part of the export; its code is now {went}")
        else:
            lines.append(f"{name}: kept, no longer part of the export")
    files = count_of(len(kept), "file")
    warn(
        f"{target}: {files} of yours not overwritten but kept:\n{list_briefly(lines)}",
        "bring your edits to where the code is now, then delete what was kept; foundry update"
        " merges edits instead",
    )


def find_existing(target: Path) -> Existing | None:
    """Return the export at the target, if there is one. Raises ExportError for anything else."""
    if not target.exists():
        return None
    if not target.is_dir():
        raise ExportError(f"{target}: is not a folder", hint="choose another folder with --output")
    if not any(target.iterdir()):
        return None
    if not (target / CHECKSUMS).is_file():
        raise ExportError(
            f"{target}: holds files that Foundry did not write",
            hint="choose another folder with --output, or empty this one",
        )
    return examine(target)


def fill_folder(folder: Path, files: Mapping[str, bytes], export: Export) -> None:
    """Write files and a copy of the index."""
    write_files(folder, files)
    shutil.copytree(
        export.index,
        folder / export.index_place,
        ignore=lambda parent, names: [
            name for name in names if export.is_left_out(Path(parent, name))
        ],
    )


def check_target(target: Path, project: Path) -> Path:
    """Return the absolute target. Refuses one that is, or holds, what must not be replaced."""
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
    if (project / STATE) in (absolute, *absolute.parents):
        raise ExportError(
            f"{absolute}: lies in the project's own state",
            hint="choose another folder with --output",
        )
    return absolute


def settle(target: Path) -> None:
    """Refuse a target that is reached through a link; undo what was stopped midway.

    This comes first, because a stopped command may have left the owner's files under another name.
    Raises ExportError.
    """
    for link in [path for path in (target, *target.parents) if path.is_symlink()]:
        raise ExportError(f"{target}: {link} is a link", hint="name the real folder")
    _recover(target)


def replace_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a new folder next to `target`, then put it in its place.

    Whatever goes wrong, the old folder stays. Raises ExportError for what the disk refuses.
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
    """Return what the disk said; for a tree of files, what it said about the first one."""
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
    """Bring every file that is not Foundry's from `old` into `new`.

    One whose name is taken there is kept as .orig; returns these names, and the new ones.
    """
    folders = {
        parent.as_posix()
        for path in old.rglob("*")
        if is_foundrys(name := path.relative_to(old).as_posix())
        for parent in Path(name).parents
    }
    return dict(_take_over(old, new, "", is_foundrys, folders))


def free_name(path: Path) -> Path:
    """Return the path itself, or with .orig, .orig2 ... after it if it is taken."""
    free, number = path, 1
    while os.path.lexists(free):
        free = path.with_name(f"{path.name}.orig{number if number > 1 else ''}")
        number += 1
    return free


def link_or_copy(old: str | Path, new: str | Path) -> None:
    """Give a file a second name, or copy it where that cannot be done."""
    Path(new).parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
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
