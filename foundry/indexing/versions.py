"""Versions of a project's index: published versions, and the one that is being written.

A version is published atomically, even if the machine stops at any step: it is written under a
temporary name, synced to disk, and renamed; only then is CURRENT replaced.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import numpy as np

from foundry.config.changes import find_changes
from foundry.config.project import Config
from foundry.errors import BuildError, FoundryError, IndexUnusableError, StaleIndexError
from foundry.files import CONFIG_NAME, replace_file, set_modes, sync_file, sync_folder, sync_tree
from foundry.indexing.files import describe_files
from foundry.runtime.errors import ServerError
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.layout import IndexFiles, IndexLayout, Manifest, resolve_version
from foundry.runtime.index.reader import OpenedIndex
from foundry.runtime.index.tokens import VERSION as TOKENIZER_VERSION
from foundry.runtime.index.tree import walk
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.encoder import open_encoder
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.state.folder import is_signed, sign
from foundry.state.stamps import stamp_of

KEPT_VERSIONS = 2

_BLOCK_NUMBERS = 1_000_000
"""How many numbers of an array are checked at a time."""


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """A published version of a project's index: its folder and manifest."""

    folder: Path
    manifest: Manifest


def index_folder(config: Config) -> Path:
    """Return the folder of all versions of the index."""
    return config.state / "index"


def require_index(config: Config) -> None:
    """Raise IndexUnusableError if the project has no index yet; no index is opened."""
    if not (index_folder(config) / "CURRENT").exists():
        raise IndexUnusableError(
            f"{config.root}: has no index yet", hint=f"build it: {config.build_command}"
        )


def built_index(config: Config) -> BuiltIndex:
    """Return the current version. Raises IndexUnusableError if none is usable."""
    require_index(config)
    index = resolve_version(index_folder(config))
    manifest = Manifest.read(index / "manifest.json")
    if not is_signed(config.state, _subject(index), _read_manifest(index), _code_of(index)):
        raise IndexUnusableError(
            f"{index}: was not published here by this installation, so it is not used",
            hint=f"build it again: {config.build_command}",
        )
    if (built_with := manifest.tokenizer_version) != TOKENIZER_VERSION:
        raise IndexUnusableError(
            f"{index}: built with tokenizer {built_with}, but this Foundry has {TOKENIZER_VERSION}",
            hint=f"build it again: {config.build_command}",
        )
    built = BuiltIndex(index, manifest)
    _require_seen(built, config)
    return built


def _require_seen(index: BuiltIndex, config: Config) -> None:
    """Compare files with their hashes, unless they are unchanged since the last comparison.

    A signature of their sizes, times and inodes is kept next to the version. Files that were
    copied, or whose mode was changed, are compared again. Raises IndexUnusableError if a hash
    differs.
    """
    seen, subject = _seen_of(index.folder), f"seen {_subject(index.folder)}"
    stamps = _stamps(index.folder)
    if is_signed(config.state, subject, stamps, seen):
        return
    check_index(index, config.root)
    if stamps == _stamps(index.folder):
        # If the folder is read-only, files are compared again next time.
        with suppress(OSError):
            replace_file(seen, sign(config.state, subject, stamps).encode())


def describe_staleness(config: Config, manifest: Manifest) -> str | None:
    """Describe how foundry.toml has changed since the index was built; None if it has not."""
    changes = find_changes(config, manifest)
    if not changes:
        return None
    listed = "".join(f"\n  {change}" for change in changes)
    return f"{config.root / CONFIG_NAME}: has changed since the index was built:{listed}"


def refuse_stale(config: Config, manifest: Manifest) -> None:
    """Raise StaleIndexError if the index was built from another configuration."""
    if said := describe_staleness(config, manifest):
        raise StaleIndexError(
            said,
            hint=f"build it again: {config.build_command}; or pass --stale to use it anyway",
        )


def check_index(index: BuiltIndex, project: Path) -> None:
    """Raise IndexUnusableError if a file differs from its hash in the manifest."""
    if findings := IndexFiles(IndexLayout(index.folder), index.manifest).verify():
        raise IndexUnusableError(
            f"{index.folder}: damaged: {'; '.join(findings)}",
            hint=f"build it again: foundry build {quote(str(project))}",
        )


def open_index(directory: Path, *, vectors: bool = False) -> OpenedIndex:
    """Open an index in the same way as a server without an engine.

    Vectors are only opened with `vectors`. Raises the runtime's IndexUnusableError.
    """
    lanes = (KeywordLane.open, DenseLane.open, open_encoder) if vectors else (KeywordLane.open,)
    return OpenedIndex.open(directory, *lanes, parts=(Documents.open, FilterColumns.open))


def intact_index(config: Config) -> BuiltIndex | None:
    """Return the current version; None if there is none, or any file is damaged."""
    try:
        index = built_index(config)
        # Unlike `check_index`, this hashes files in several threads.
        found = describe_files(index.folder)
    except (FoundryError, ServerError, OSError):
        return None
    del found["manifest.json"]
    return index if found == index.manifest.files else None


@contextmanager
def begun_version(config: Config) -> Iterator[Path]:
    """Create a folder for a new version; it is deleted at the end unless it was published.

    Raises BuildError if it cannot be written.
    """
    try:
        folder = begin_version(index_folder(config))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise BuildError(
            f"{error.filename or index_folder(config)}: cannot be written:"
            f" {error.strerror or error}; the last published index is kept",
            hint="check the free space and the permissions of the folder",
        ) from None


def begin_version(index: Path) -> Path:
    """Create the folder for the next version; the caller holds the project's lock.

    Leftovers of interrupted builds are removed, and so are versions that never became current: the
    two versions that are kept must be the current and the previous one.
    """
    index.mkdir(parents=True, exist_ok=True)
    (index / "CURRENT.tmp").unlink(missing_ok=True)
    if (index / "CURRENT").is_dir():
        # A folder of this name cannot be replaced atomically, and is not a version.
        shutil.rmtree(index / "CURRENT")
    for leftover in index.glob("v*.tmp"):
        shutil.rmtree(leftover)
    current = _current_number(index)
    for number in _versions(index):
        if current is not None and number > current:
            shutil.rmtree(index / f"v{number}")
    _remove_codes(index)
    folder = index / f"v{max([0, *_versions(index)]) + 1}.tmp"
    folder.mkdir()
    return folder


def publish_version(folder: Path, state: Path) -> Path:
    """Sign a finished version for this state and make it current; return its folder."""
    index, final = folder.parent, folder.with_suffix("")
    subject = _subject(final)
    code = _code_of(final)
    code.write_text(sign(state, subject, _read_manifest(folder)), encoding="ascii")
    sync_file(code)
    set_modes(folder)
    sync_tree(folder)
    seen = sign(state, f"seen {subject}", _stamps(folder))
    _seen_of(final).write_text(seen, encoding="ascii")
    folder.rename(final)
    sync_folder(index)
    replace_file(index / "CURRENT", f"{final.name}\n".encode())
    return final


def remove_older(index: Path) -> None:
    """Remove all versions but the latest KEPT_VERSIONS."""
    for number in sorted(_versions(index))[:-KEPT_VERSIONS]:
        # Versions that cannot be removed now are removed by the next build.
        shutil.rmtree(index / f"v{number}", ignore_errors=True)
    _remove_codes(index)


def _code_of(version: Path) -> Path:
    """Return the file next to a version that contains its signature."""
    return version.with_name(f"{version.name}.code")


def _seen_of(version: Path) -> Path:
    """Return the file next to a version that contains the stamps of verified files."""
    return version.with_name(f"{version.name}.seen")


def _subject(version: Path) -> str:
    return f"{version.parent.name}/{version.name}"


def _stamps(folder: Path) -> bytes:
    """Return a stamp that changes if a file in a folder is written, replaced, added or removed."""
    paths = sorted(entry.path for entry in walk(folder))
    stamps = [(path, stamp_of((folder / path).lstat())) for path in paths]
    return json.dumps(stamps).encode()


def _remove_codes(index: Path) -> None:
    for code in (*index.glob("v*.code"), *index.glob("v*.seen")):
        if not code.with_suffix("").exists():
            code.unlink()


def _read_manifest(version: Path) -> bytes:
    """Return the manifest, which has the hashes of all other files; empty if there is none."""
    try:
        return (version / "manifest.json").read_bytes()
    except OSError:
        return b""


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


def check_numbers(index: Path) -> None:
    """Raise IndexUnusableError, naming the file, for an unreadable array, NaN or infinity."""
    for path in sorted(index.rglob("*.npy")):
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            hint = "build the index again"
            raise IndexUnusableError(f"{path}: cannot be read: {error}", hint=hint) from None
        if array.dtype.kind != "f":
            continue
        numbers = array.reshape(-1)
        for start in range(0, len(numbers), _BLOCK_NUMBERS):
            if not np.isfinite(numbers[start : start + _BLOCK_NUMBERS]).all():
                raise IndexUnusableError(
                    f"{path}: contains NaN or infinity", hint="build the index again"
                )
