"""Writes an export next to the target, then replaces the target in one step.

An existing folder is only replaced if Foundry wrote it. The export fails if its owner edited or
added files; with `force`, edited files are kept as `.orig`, and added files are kept. An update
(`export.update`) merges instead.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.errors import ExportError
from foundry.export.checksums import CHECKSUMS, find_obstacles, format_checksums, list_files
from foundry.export.decisions import where_code_went
from foundry.export.existing import GENERATED, Existing, encode_generated, examine
from foundry.export.replacing import (
    free_name,
    link_or_copy,
    replace_folder,
    settle,
    take_over,
)
from foundry.files import hash_file, hash_files, set_modes, write_files
from foundry.state.folder import STATE
from foundry.terminal import count_of, list_briefly


@dataclass(frozen=True, slots=True)
class Export:
    """The parts of an export, by relative path.

    `files` are all files except the index, checksums and record. The folder `index` is copied to
    `index_place`, without the files `left_out`, whose content is in an engine.
    """

    files: Mapping[str, bytes]
    index: Path
    index_place: str
    left_out: frozenset[str] = frozenset()

    @property
    def package(self) -> str:
        """The name of the package, which contains the index."""
        return self.index_place.partition("/")[0]

    def all_files(self) -> dict[str, bytes]:
        """Return the files, including the record of generated files."""
        return {**self.files, GENERATED: encode_generated(self.files)}

    def is_left_out(self, path: Path) -> bool:
        """Return whether a file of the index is not copied."""
        return path.relative_to(self.index).as_posix() in self.left_out

    def index_digests(self) -> dict[str, str]:
        """Return the SHA-256 of every file of the index, by path in the export."""
        return {
            f"{self.index_place}/{path.relative_to(self.index).as_posix()}": hash_file(path)
            for path in sorted(self.index.rglob("*"))
            if path.is_file() and not self.is_left_out(path)
        }


def write_export(target: Path, export: Export, *, force: bool) -> dict[str, str]:
    """Write an export to the folder `target`.

    Returns the current path of each of the owner's files that was edited, or whose name the export
    needs. Raises ExportError before writing anything if the target cannot be used.
    """
    settle(target)
    existing = find_existing(target)
    if existing is not None and existing.owned and not force:
        owned = existing.owned
        raise ExportError(
            f"{target}: {count_of(len(owned), 'file')} edited or added since the export:\n"
            + list_briefly(owned, 20),
            hint="foundry update merges them with the changes; or export to another folder with"
            " --output, or pass --force: added files are then kept, and edited ones as .orig",
        )

    kept: dict[str, str] = {}

    def fill(folder: Path) -> None:
        files = export.all_files()
        digests = {**hash_files(files), **export.index_digests()}
        fill_folder(folder, {**files, CHECKSUMS: format_checksums(digests)}, export)
        set_modes(folder)
        if existing is not None:
            # Added files come first: one of them may be a file that an earlier export kept as
            # .orig.
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
    """Warn of each file that `write_export` kept: where it is, and where its code is now."""
    if not kept:
        return
    lines = []
    for name, place in sorted(kept.items()):
        if place != name:
            lines.append(f"{name}: replaced; yours is now {place}")
        elif went := where_code_went(name, package):
            lines.append(f"{name}: kept, no longer part of the export; its code is now {went}")
        else:
            lines.append(f"{name}: kept, no longer part of the export")
    files = count_of(len(kept), "file")
    warn(
        f"{target}: {files} of yours not overwritten but kept:\n{list_briefly(lines)}",
        "move your edits to where the code is now, then delete the kept files; foundry update"
        " merges edits instead",
    )


def find_existing(target: Path) -> Existing | None:
    """Return the export at the target, if there is one.

    Raises ExportError for anything else, and for files that cannot be moved.
    """
    if not target.exists():
        return None
    if not target.is_dir():
        raise ExportError(f"{target}: is not a folder", hint="choose another folder with --output")
    if not any(target.iterdir()):
        return None
    _refuse_obstacles(target)
    if not (target / CHECKSUMS).is_file():
        raise ExportError(
            f"{target}: contains files that Foundry did not write",
            hint="choose another folder with --output, or empty this one",
        )
    return examine(target)


def _refuse_obstacles(target: Path) -> None:
    """Raise ExportError for files that can be neither replaced nor kept, such as pipes."""
    if not os.path.lexists(target / CHECKSUMS):
        return
    if obstacles := find_obstacles(list_files(target).values()):
        raise ExportError(
            f"{target}: contains files that can neither be replaced nor kept:\n"
            + list_briefly(obstacles, 20),
            hint="move them out of the export, or make them readable",
        )


def fill_folder(folder: Path, files: Mapping[str, bytes], export: Export) -> None:
    """Write files, and a copy of the index, to a folder."""
    write_files(folder, files)
    shutil.copytree(
        export.index,
        folder / export.index_place,
        ignore=lambda parent, names: [
            name for name in names if export.is_left_out(Path(parent, name))
        ],
    )


def check_target(target: Path, project: Path) -> Path:
    """Return the absolute target. Raises ExportError if the target must not be replaced.

    Called early, so that such errors appear before the server is rendered.
    """
    # Links are not resolved, because links on the path must be found and rejected.
    absolute = Path(os.path.abspath(target))  # noqa: PTH100
    # Path.home raises if the user has no home, as in some containers.
    home = Path(os.path.expanduser("~"))  # noqa: PTH111
    for taken, what in (
        (project, "the project"),
        (home, "the home folder"),
        (home.resolve(), "the home folder"),
    ):
        if absolute == taken or absolute in taken.parents:
            raise ExportError(
                f"{absolute}: is {what} or contains it", hint="choose another folder with --output"
            )
    if (project / STATE) in (absolute, *absolute.parents):
        raise ExportError(
            f"{absolute}: is inside the project's own state folder",
            hint="choose another folder with --output",
        )
    _refuse_obstacles(absolute)
    return absolute
