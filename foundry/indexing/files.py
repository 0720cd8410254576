"""Writing an index's files so that equal content gives equal bytes, and survives a crash."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def write_array(path: Path, values: NDArray[Any]) -> None:
    """Write a NumPy file, little endian, row major."""
    stored = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
    with path.open("wb") as file:
        np.lib.format.write_array(file, stored, version=(1, 0), allow_pickle=False)


def encode_json(value: object) -> bytes:
    """One line of JSON in UTF-8; keys keep their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def hash_files(root: Path) -> dict[str, dict[str, int | str]]:
    """Size and SHA-256 of every file below `root`, by path, sorted."""
    entries: dict[str, dict[str, int | str]] = {}
    for path in _files_below(root):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = path.relative_to(root).as_posix()
        entries[name] = {"bytes": path.stat().st_size, "sha256": digest}
    return entries


def sync_tree(root: Path) -> None:
    """Force every file and folder below `root`, and `root` itself, to disk."""
    for path in _files_below(root):
        _sync(path, os.O_RDONLY)
    for folder in sorted({root, *(path for path in root.rglob("*") if path.is_dir())}):
        sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Force a folder's entries (renames, new names) to disk."""
    _sync(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old content or the new, whatever happens."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def _files_below(root: Path) -> Iterator[Path]:
    return iter(sorted(path for path in root.rglob("*") if path.is_file()))


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
