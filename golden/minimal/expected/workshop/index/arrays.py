"""Arrays, mapped into memory without reading them, and vectors as integers."""

import errno
import mmap
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import IndexUnusableError

MAX_HEADER = 4096
"""Bytes; more than the header of any array here."""

REBUILD_HINT = "build the index again, or restore the folder from a trusted copy"
MEMORY_HINT = "the index is mapped into memory: raise the limit of the process (ulimit -v)"


def open_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map a NumPy file read-only; -1 in `shape` stands for any length.

    Raises IndexUnusableError when the file is missing, damaged, or of another type or shape.
    """
    try:
        # An array without elements cannot be mapped.
        may_be_empty = 0 in shape or (-1 in shape and path.stat().st_size <= MAX_HEADER)
        array = np.load(path, mmap_mode=None if may_be_empty else "r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        raise _unreadable(path, error) from None
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
        raise _unreadable(path, error) from None
    if found != size:
        raise IndexUnusableError(f"{path}: has {found} bytes, expected {size}", hint=REBUILD_HINT)
    return memoryview(mapped)


def _unreadable(path: Path, error: Exception) -> IndexUnusableError:
    lacks_memory = isinstance(error, OSError) and error.errno == errno.ENOMEM
    hint = MEMORY_HINT if lacks_memory else REBUILD_HINT
    return IndexUnusableError(f"{path}: unreadable: {error}", hint=hint)


# 127 * 127 * 1040 < 2**24: the widest sum of products that float32 holds exactly.
_FLOAT32_DIMENSIONS = 1_040


def exact_type(dimensions: int) -> type[np.floating]:
    """Return the floating type that holds every product of two int8 rows exactly."""
    return np.float32 if dimensions <= _FLOAT32_DIMENSIONS else np.float64


def quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round vectors (n, d) to int8 rows (n, d) and the scales (n,) that make them unit again.

    A zero vector gives a zero row with scale 0.
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    safe = np.where(largest > 0, largest, 1).astype(np.float32)
    rows = np.rint(vectors / safe[:, np.newaxis] * np.float32(127)).astype(np.int8)
    squares = (rows.astype(np.int64) ** 2).sum(axis=1)
    scales = np.zeros(len(rows), dtype=np.float32)
    present = squares > 0
    scales[present] = 1.0 / np.sqrt(squares[present].astype(np.float64))
    return rows, scales
