"""Memory-mapped arrays and JSON lines, opened without reading them."""

import json
import mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import IndexUnusableError

REBUILD_HINT = "build the index again, or restore the folder from a trusted copy"


def open_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map a NumPy file read-only; -1 in `shape` stands for any length.

    Raises IndexUnusableError when the file is missing, damaged, or of another type or shape.
    """
    try:
        # An empty file cannot be mapped.
        empty = 0 in shape
        array = np.load(path, mmap_mode=None if empty else "r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        if -1 in shape and "empty" in str(error):
            return np.load(path, allow_pickle=False)  # type: ignore[no-any-return]
        raise IndexUnusableError(f"{path}: unreadable: {error}", hint=REBUILD_HINT) from None
    fits = array.ndim == len(shape) and all(
        wanted in (-1, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if array.dtype != np.dtype(dtype) or not fits:
        raise IndexUnusableError(
            f"{path}: holds {array.dtype} {array.shape}, expected {np.dtype(dtype)} {shape}",
            hint=REBUILD_HINT,
        )
    # A plain view: indexing a memmap object costs several microseconds more each time.
    return np.asarray(array)


def open_bytes(path: Path, size: int) -> memoryview:
    """Map a file of `size` bytes read-only.

    Raises IndexUnusableError when the file is missing or has another size.
    """
    try:
        with path.open("rb") as file:
            found = file.seek(0, 2)
            # An empty file cannot be mapped.
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if found else b""
    except (OSError, ValueError) as error:
        raise IndexUnusableError(f"{path}: unreadable: {error}", hint=REBUILD_HINT) from None
    if found != size:
        raise IndexUnusableError(f"{path}: has {found} bytes, expected {size}", hint=REBUILD_HINT)
    return memoryview(mapped)


class JsonLines:
    """Random access to a file of JSON records by line number."""

    def __init__(self, path: Path, offsets: NDArray[np.uint64]) -> None:
        self._path = path
        self._offsets = offsets
        self._bytes = open_bytes(path, int(offsets[-1]))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> dict[str, Any]:
        start, end = int(self._offsets[number]), int(self._offsets[number + 1])
        try:
            record = json.loads(bytes(self._bytes[start:end]))
        except ValueError as error:
            raise IndexUnusableError(
                f"{self._path}: record {number}: {error}", hint=REBUILD_HINT
            ) from None
        assert isinstance(record, dict)
        return record


class KeyTable:
    """A sorted table of 64-bit keys and the numbers they stand for."""

    def __init__(self, table: NDArray[np.uint64]) -> None:
        self._keys, self._numbers = table

    def find(self, key: int) -> list[int]:
        """The numbers stored under `key`, ascending."""
        first = int(np.searchsorted(self._keys, np.uint64(key), side="left"))
        last = int(np.searchsorted(self._keys, np.uint64(key), side="right"))
        return [int(number) for number in self._numbers[first:last]]
