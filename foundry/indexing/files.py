"""Writing an index's files so that equal content gives equal bytes."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foundry.files import hash_file


def write_array(path: Path, values: NDArray[Any]) -> None:
    """Write a NumPy file, little endian, row major."""
    stored = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
    with path.open("wb") as file:
        np.lib.format.write_array(file, stored, version=(1, 0), allow_pickle=False)


def encode_json(value: object) -> bytes:
    """Return one line of JSON in UTF-8; keys keep their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def hash_files(root: Path) -> dict[str, dict[str, int | str]]:
    """Size and SHA-256 of every file below `root`, by path, sorted."""
    paths = list(_files_below(root))
    with ThreadPoolExecutor() as threads:
        hashes = threads.map(hash_file, paths)
        return {
            path.relative_to(root).as_posix(): {"bytes": path.stat().st_size, "sha256": found}
            for path, found in zip(paths, hashes, strict=True)
        }


def _files_below(root: Path) -> Iterator[Path]:
    return iter(sorted(path for path in root.rglob("*") if path.is_file()))


def offsets_of(lengths: ArrayLike) -> NDArray[np.uint64]:
    """Offsets (n + 1,) of n stretches of the given lengths."""
    lengths = np.asarray(lengths, dtype=np.uint64)
    offsets = np.zeros(len(lengths) + 1, dtype=np.uint64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def split(content: bytes, offsets: NDArray[np.uint64]) -> list[bytes]:
    """Return the stretches (n,) of `content` that offsets (n + 1,) divide it into."""
    ends = offsets.tolist()
    return [content[start:end] for start, end in pairwise(ends)]
