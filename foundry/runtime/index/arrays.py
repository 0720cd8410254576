"""Arrays and terms of an index, mapped into memory: the system reads what a search touches."""

import errno
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import REBUILD_HINT, IndexUnusableError

MAX_HEADER_BYTES = 4096
TERMS_APART = 64  # Of those that stay in memory once a search for a term has passed them.
MEMORY_HINT = "the index is mapped into memory: raise the limit of the process (ulimit -v)"


def open_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map a NumPy file read-only; -1 in `shape` stands for any length.

    Raises IndexUnusableError when the file is missing, damaged, or of another type or shape.
    """
    try:
        # An array without elements cannot be mapped.
        may_be_empty = 0 in shape or (-1 in shape and path.stat().st_size <= MAX_HEADER_BYTES)
        array = np.load(path, mmap_mode=None if may_be_empty else "r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        raise _unreadable(path, error) from None
    fits = array.ndim == len(shape) and all(
        wanted in (-1, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if array.dtype != np.dtype(dtype) or not fits:
        raise IndexUnusableError(
            f"{path}: holds {array.dtype} {array.shape}, expected {np.dtype(dtype)} {shape}"
        )
    # A plain view: indexing a memmap object costs several microseconds more each time.
    return np.asarray(array)


def open_bytes(path: Path, size: int) -> memoryview:
    """Map `size` bytes of a file read-only. Raises IndexUnusableError if it has fewer."""
    try:
        # An empty file cannot be mapped.
        return np.memmap(path, np.uint8, "r", shape=(size,)).data if size else memoryview(b"")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> IndexUnusableError:
    lacks_memory = isinstance(error, OSError) and error.errno == errno.ENOMEM
    hint = MEMORY_HINT if lacks_memory else REBUILD_HINT
    return IndexUnusableError(f"{path}: unreadable: {error}", hint=hint)


class Vocabulary(Sequence[bytes]):
    """Sorted terms in UTF-8, one after the other in a file."""

    def __init__(self, terms: memoryview, offsets: NDArray[np.uint64]) -> None:
        self._terms = terms
        self._offsets = offsets.data  # An array takes twice as long to give a number.
        self._firsts = range(0, len(self), TERMS_APART)
        self._first = cache(self.__getitem__)

    @classmethod
    def open(cls, path: Path, offsets: Path, count: int = -1) -> "Vocabulary":
        """Map `count` terms, any number by default. Raises IndexUnusableError."""
        ends = open_array(offsets, np.uint64, (count if count < 0 else count + 1,))
        return cls(open_bytes(path, int(ends[-1])), ends)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return bytes(self._terms[self._offsets[number] : self._offsets[number + 1]])

    def find(self, term: str) -> int | None:
        """Return the number of `term`, or None."""
        encoded = term.encode("utf-8", "replace")
        start = max(0, bisect_right(self._firsts, encoded, key=self._first) - 1) * TERMS_APART
        number = bisect_left(self, encoded, start, min(start + TERMS_APART, len(self)))
        return number if number < len(self) and self[number] == encoded else None
