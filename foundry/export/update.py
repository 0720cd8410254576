"""Updates an export that its owner may have edited."""

import os
import shutil
from pathlib import Path

from foundry.config.project import Config
from foundry.errors import ConfigError, ExportError, FoundryError
from foundry.export.checksums import CHECKSUMS, format_checksums, is_owners, list_files
from foundry.export.decisions import BESIDE, Update, decide
from foundry.export.existing import GENERATED, Existing, encode_generated
from foundry.export.package_files import find_unresolved, find_unsettled
from foundry.export.replacing import replace_folder, settle, take_over
from foundry.export.write import Export, fill_folder, find_existing
from foundry.files import CONFIG_NAME, FILE_MODE, hash_file, set_modes
from foundry.runtime.index.tree import FILE
from foundry.terminal import printable


def update_export(target: Path, export: Export, *, force: bool, dry_run: bool) -> Update:
    """Merge `export` into the edited export in `target`; return what changed.

    With `dry_run`, nothing is written. Raises ExportError, before writing anything, if the folder
    cannot be updated, or, without `force`, if conflicts of an earlier update remain.
    """
    settle(target)
    existing = find_existing(target)
    if existing is None:
        raise ExportError(f"{target}: contains no export", hint="write one: foundry export")
    _refuse_damaged_index(target, existing)
    if not force:
        _refuse_unsettled(target, existing)
    update, contents = decide(target, existing, export.files, export.package)
    modules = {
        name: content
        for name, content in {**existing.read_files(target), **contents}.items()
        if name not in update.removed
    }
    update.unresolved = find_unresolved(modules, export.package)
    if not dry_run:
        replace_folder(target, lambda folder: _fill(folder, target, existing, export, contents))
    return update


def find_project(folder: Path) -> Path:
    """Return the project of an export, found in the folders above it.

    Raises FoundryError if there is no such folder, and ConfigError if there is no project.
    """
    if not folder.exists():
        raise FoundryError(f"{folder}: no such folder", hint="name the folder of an export")
    if (folder / CONFIG_NAME).is_file():
        raise FoundryError(
            f"{folder}: is a project, not an export",
            hint=f"name its export, such as {folder}/dist/NAME, where foundry export writes one",
        )
    # Links are not resolved, so that an export behind a link is found, and rejected later.
    absolute = Path(os.path.abspath(folder))  # noqa: PTH100
    for parent in absolute.parents:
        if (parent / CONFIG_NAME).is_file():
            return parent
    raise ConfigError(
        str(folder),
        [f"is not inside a project: no folder above it has a {CONFIG_NAME}"],
        hint="name the project that it came from with --project",
    )


def check_origin(target: Path, config: Config) -> None:
    """Raise ExportError for an export of another project."""
    if target.is_dir() and not os.path.lexists(target / config.package / "settings.json"):
        raise ExportError(
            f"{target}: has no package {config.package}, so it is not an export of this project",
            hint=f"name the project that it came from with --project; this one is {config.root}",
        )


def _fill(
    folder: Path, target: Path, existing: Existing, export: Export, contents: dict[str, bytes]
) -> None:
    files = {**contents, GENERATED: encode_generated(export.files)}
    fill_folder(folder, files, export)
    set_modes(folder)
    for name in contents.keys() & {*existing.edited, *existing.added}:
        shutil.copymode(target / name, folder / name)
    # Files to be written are not taken over: the merged version replaces them.
    take_over(target, folder, lambda name: existing.is_foundrys(name) or name in contents)
    for name in existing.edited:
        if (target / name).is_symlink():
            (folder / name).symlink_to((target / name).readlink())
    digests = {
        name: hash_file(folder / name)
        for name, entry in list_files(folder).items()
        if entry.kind == FILE
        and not is_owners(name)
        and name.removesuffix(BESIDE) not in export.files.keys() - {name}
    }
    (folder / CHECKSUMS).write_bytes(format_checksums(digests))
    (folder / CHECKSUMS).chmod(FILE_MODE)


def _refuse_damaged_index(target: Path, existing: Existing) -> None:
    if damaged := [name for name in existing.edited if name in existing.index]:
        raise ExportError(
            f"{target}: files of the index were changed: {', '.join(damaged[:5])}",
            hint="the index is replaced as a whole: restore these files, or move them away",
        )


def _refuse_unsettled(target: Path, existing: Existing) -> None:
    if unsettled := find_unsettled(existing.read_files(target)):
        raise ExportError(
            f"{target}: conflicts of an earlier update are not resolved:"
            + "".join(f"\n  {printable(finding)}" for finding in unsettled),
            hint="resolve the conflicts and delete the .new files, or pass --force",
        )
