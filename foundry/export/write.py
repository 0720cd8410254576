"""Writes an export: beside the target first, then into its place in one step.

What stands at the target is replaced only if Foundry wrote it. Files that its owner edited or added
stop the export; with `force` edited files are kept beside the new ones as `.orig`, added ones stay.
An update (`exporting.update`) merges instead.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.errors import ExportError
from foundry.export.checksums import CHECKSUMS, format_checksums
from foundry.export.existing import GENERATED, Standing, encode_generated, examine
from foundry.export.replacing import keep_aside, replace_folder, settle, take_over
from foundry.files import hash_file, hash_files, set_modes, write_files


@dataclass(frozen=True, slots=True)
class Export:
    """The parts of an export: `files` are all but the index and the records of both, by relative
    path.

    The folder `index` goes to `index_place`, less the files `left_out`, because an engine holds
    what is in them.
    """

    files: Mapping[str, bytes]
    index: Path
    index_place: str
    left_out: frozenset[str] = frozenset()

    def all_files(self) -> dict[str, bytes]:
        """Return the files, with the record of what was generated."""
        return {**self.files, GENERATED: encode_generated(self.files)}

    def is_left_out(self, path: Path) -> bool:
        """Return whether a file of the index is one of those that are not copied."""
        return path.relative_to(self.index).as_posix() in self.left_out

    def index_digests(self) -> dict[str, str]:
        """SHA-256 of every file of the index, by its path in the export."""
        return {
            f"{self.index_place}/{path.relative_to(self.index).as_posix()}": hash_file(path)
            for path in sorted(self.index.rglob("*"))
            if path.is_file() and not self.is_left_out(path)
        }


def write_export(target: Path, export: Export, *, force: bool) -> None:
    """Write an export as the folder `target`.

    Raises ExportError before anything is written when the target cannot be used.
    """
    settle(target)
    standing = find_standing(target)
    if standing is not None and standing.owned and not force:
        owned = standing.owned
        shown = "".join(f"\n  {name}" for name in owned[:20])
        more = f"\n  and {len(owned) - 20} more" if len(owned) > 20 else ""
        raise ExportError(
            f"{target}: {len(owned)} files were edited or added since the export:{shown}{more}",
            hint="foundry update merges them with what is new; or export to another folder with"
            " --output, or pass --force: edited files are then kept as .orig, added ones stay",
        )

    def fill(folder: Path) -> None:
        files = export.all_files()
        digests = {**hash_files(files), **export.index_digests()}
        fill_folder(folder, {**files, CHECKSUMS: format_checksums(digests)}, export)
        set_modes(folder)
        if standing is not None:
            # Added files first: one of them may be what an earlier export kept as .orig.
            take_over(target, folder, standing.is_foundrys)
            for name in standing.edited:
                keep_aside(target / name, folder / name)

    replace_folder(target, fill)


def find_standing(target: Path) -> Standing | None:
    """Return what stands at the target; None for nothing. Raises ExportError if it must not be
    used."""
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
    """Return the absolute target, refused if it is, or holds, something that must not be
    replaced."""
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
