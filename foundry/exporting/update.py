"""Brings what is new into an export that its owner has edited.

Each file is decided by three texts: what was generated last, what stands there, what would be
generated now. Untouched files are replaced and edited ones merged; nothing of the owner's is lost.
"""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from foundry.errors import ExportError
from foundry.exporting.checksums import (
    CHECKSUMS,
    format_checksums,
    is_owners,
    list_files,
)
from foundry.exporting.generated import GENERATED, Generated, encode_generated
from foundry.exporting.merge import merge
from foundry.exporting.owners_files import take_over
from foundry.exporting.package_files import find_unresolved, find_unsettled
from foundry.exporting.replacing import replace_folder, settle
from foundry.exporting.standing import Standing
from foundry.exporting.write import Export, fill_folder, find_standing
from foundry.files import FILE_MODE, hash_file, set_modes

BESIDE = ".new"
"""Appended to the name of a file whose owner's version stands and could not be merged."""

OWNERS_MODULE = "custom.py"
"""The module that is there for the owner's own code."""


@dataclass(slots=True)
class Update:
    """What an update does, or did: sorted relative paths by what becomes of the file.

    Attributes:
        replaced: Untouched, and different now.
        added: New.
        removed: Untouched, and no longer part of the export.
        merged: Edited, and brought together with what is new.
        conflicts: Edited where the generated text changed too; both stand in the file, marked.
        beside: Edited, and not to be merged; what was generated stands beside it as `.new`.
        kept: Edited, and as the owner left it, because nothing new concerns it.
        orphaned: Edited, and no longer part of the export; kept.
        deleted: Deleted by the owner; stays so.
        unresolved: A line for each import that then leads nowhere: of a file, and what it imports.
    """

    replaced: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    orphaned: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left for the owner to decide."""
        return not self.conflicts and not self.beside and not self.unresolved


def update_export(target: Path, export: Export, *, force: bool, dry_run: bool) -> Update:
    """Bring `export` into the folder `target`, which is an edited export; returns what changed.

    With `dry_run` nothing is written. Raises ExportError, before anything is written, when the
    folder cannot be updated, and, unless `force` is given, while an earlier update is not settled.
    """
    settle(target)
    standing = find_standing(target)
    if standing is None:
        raise ExportError(f"{target}: holds no export", hint="write one: foundry export")
    _refuse_damaged_index(target, standing)
    if not force:
        _refuse_unsettled(target, standing)
    update, contents = decide(target, standing, export.files)
    modules = {
        name: content
        for name, content in {**_read(target, standing), **contents}.items()
        if name not in update.removed
    }
    package = export.index_place.partition("/")[0]
    update.unresolved = find_unresolved(modules, package)
    if not dry_run:
        replace_folder(target, lambda folder: _fill(folder, target, standing, export, contents))
    return update


def decide(
    target: Path, standing: Standing, files: Mapping[str, bytes]
) -> tuple[Update, dict[str, bytes]]:
    """What becomes of each file, and the contents to write."""
    update = Update()
    contents: dict[str, bytes] = {}
    base = standing.generated
    for name in sorted(files.keys() | base.digests.keys()):
        new, path = files.get(name), target / name
        if name not in standing.edited and name not in standing.added:
            content = _decide_untouched(update, name, new, standing, path)
        else:
            content = _decide_edited(update, contents, name, new, base, path)
        if content is not None:
            contents[name] = content
    return update, contents


def _decide_untouched(
    update: Update, name: str, new: bytes | None, standing: Standing, path: Path
) -> bytes | None:
    if new is None:
        if name not in standing.deleted:
            update.removed.append(name)
        return None
    if name in standing.deleted:
        update.deleted.append(name)
        return None
    if name not in standing.generated.digests:
        update.added.append(name)
    elif path.read_bytes() != new:
        update.replaced.append(name)
    return new


def _decide_edited(
    update: Update,
    contents: dict[str, bytes],
    name: str,
    new: bytes | None,
    base: Generated,
    path: Path,
) -> bytes | None:
    """The content of a file that is not as Foundry wrote it; None to leave what stands there."""
    if path.is_symlink():
        update.kept.append(name)
        return None
    yours, old = path.read_bytes(), base.texts.get(name)
    if new is None:
        update.orphaned.append(name)
        return yours
    is_module = PurePosixPath(name).name == OWNERS_MODULE
    if yours == new or (is_module and name in base.digests) or _is_unchanged(name, new, base):
        update.kept.append(name)
        return yours
    try:
        if old is None:
            raise ValueError
        merged = merge(old, yours.decode(), new.decode())
    except ValueError:
        update.beside.append(name)
        contents[name + BESIDE] = new
        return yours
    (update.conflicts if merged.conflicts else update.merged).append(name)
    return merged.text.encode()


def _is_unchanged(name: str, new: bytes, base: Generated) -> bool:
    if name in base.texts:
        return base.texts[name].encode() == new
    return base.digests.get(name) == hashlib.sha256(new).hexdigest()


def _fill(
    folder: Path, target: Path, standing: Standing, export: Export, contents: dict[str, bytes]
) -> None:
    files = {**contents, GENERATED: encode_generated(export.files)}
    fill_folder(folder, files, export)
    set_modes(folder)
    for name in contents.keys() & {*standing.edited, *standing.added}:
        shutil.copymode(target / name, folder / name)
    # What is written is not taken over: its place is taken by the merged one.
    take_over(target, folder, lambda name: standing.is_foundrys(name) or name in contents)
    for name in standing.edited:
        if (target / name).is_symlink():
            (folder / name).symlink_to((target / name).readlink())
    digests = {
        name: hash_file(folder / name)
        for name in list_files(folder)
        if not is_owners(name)
        and not (folder / name).is_symlink()
        and name.removesuffix(BESIDE) not in export.files.keys() - {name}
    }
    (folder / CHECKSUMS).write_bytes(format_checksums(digests))
    (folder / CHECKSUMS).chmod(FILE_MODE)


def _refuse_damaged_index(target: Path, standing: Standing) -> None:
    if damaged := [name for name in standing.edited if name in standing.index]:
        raise ExportError(
            f"{target}: files of the index were changed: {', '.join(damaged[:5])}",
            hint="an index is replaced as a whole: restore these files, or move them away",
        )


def _refuse_unsettled(target: Path, standing: Standing) -> None:
    if unsettled := find_unsettled(_read(target, standing)):
        raise ExportError(
            f"{target}: an earlier update is not settled:"
            + "".join(f"\n  {finding}" for finding in unsettled),
            hint="settle the conflicts and delete the .new files, or pass --force",
        )


def _read(target: Path, standing: Standing) -> dict[str, bytes]:
    """What an export holds beside its index, what is its owner's alone, and links."""
    return {
        name: (target / name).read_bytes()
        for name in list_files(target)
        if not is_owners(name) and name not in standing.index and not (target / name).is_symlink()
    }
