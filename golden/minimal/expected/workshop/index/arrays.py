"""Arrays and tables of an index, mapped into memory: the system reads what a search touches."""

import errno
import hashlib
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import REBUILD_HINT, IndexUnusableError
from .layout import IndexLayout

MAX_HEADER_BYTES = 4096
MEMORY_HINT = "the index is mapped into memory: raise the limit of the process (ulimit -v)"

_SEPARATOR = "\x1f"
_AFTER_ALL = b"\xff"  # Greater than every byte of UTF-8.

# 127 * 127 * 1040 < 2**24: the widest sum of products that float32 holds exactly.
_FLOAT32_DIMENSIONS = 1_040

Record = TypeVar("Record")


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


def hash_key(text: str) -> int:
    """Return the 64-bit key under which an id is looked up."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


class Records:
    """Lines of JSON, found by number or by the hash of their id."""

    def __init__(self, path: Path, offsets: Path, ids: Path, count: int) -> None:
        """Map the files of `count` records; see `IndexLayout`. Raises IndexUnusableError."""
        self._path = path
        self._offsets = open_array(offsets, np.uint64, (count + 1,))
        self._keys, self._numbers = open_array(ids, np.uint64, (2, -1))
        self._bytes = open_bytes(path, int(self._offsets[-1]))

    def read(self, number: int, make: Callable[[dict[str, Any]], Record]) -> Record:
        """Return what `make` makes of a record. Raises IndexUnusableError where that fails."""
        try:
            start, end = self._offsets[number : number + 2].tolist()
            return make(json.loads(str(self._bytes[start:end], "utf-8")))
        except (ValueError, LookupError, OverflowError, TypeError) as error:
            raise IndexUnusableError(f"{self._path}: record {number}: {error!r}") from None

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the records whose ids have the hash of this one, ascending."""
        key = np.uint64(hash_key(identifier))
        first, last = (np.searchsorted(self._keys, key, side) for side in ("left", "right"))
        return [*map(int, self._numbers[first:last])]


class Vocabulary(Sequence[bytes]):
    """Sorted terms in UTF-8, one after the other in a file."""

    def __init__(self, terms: memoryview, offsets: NDArray[np.uint64]) -> None:
        self._terms = terms
        self._offsets = offsets

    @classmethod
    def open(cls, path: Path, offsets: Path, count: int = -1) -> "Vocabulary":
        """Map `count` terms, any number by default. Raises IndexUnusableError."""
        ends = open_array(offsets, np.uint64, (count if count < 0 else count + 1,))
        return cls(open_bytes(path, int(ends[-1])), ends)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return bytes(self._terms[int(self._offsets[number]) : int(self._offsets[number + 1])])

    def find(self, term: str) -> int | None:
        """Return the number of `term`, or None."""
        encoded = term.encode("utf-8", "replace")
        number = bisect_left(self, encoded)
        return number if number < len(self) and self[number] == encoded else None


class ValueTable:
    """Which documents have a value; keys are sorted, so that equal beginnings follow each other."""

    def __init__(self, layout: IndexLayout, document_count: int) -> None:
        """Map the files of the table. Raises IndexUnusableError."""
        self._keys = Vocabulary.open(layout.filter_values, layout.filter_value_offsets)
        self._starts = open_array(layout.filter_document_offsets, np.uint64, (len(self._keys) + 1,))
        size = int(self._starts[-1])
        self._documents = open_array(layout.filter_documents, np.uint32, (size,))
        self._document_count = document_count

    def having(self, field: str, values: Iterable[str]) -> NDArray[np.bool_]:
        """Return which documents (m,) have one of these values."""
        mask = np.zeros(self._document_count, dtype=np.bool_)
        for value in set(values):
            place = self._keys.find(f"{field}{_SEPARATOR}{value}")
            if place is not None:
                self._mark(mask, place, place + 1)
        return mask

    def beginning(self, field: str, prefixes: Iterable[str]) -> NDArray[np.bool_]:
        """Return which documents (m,) have a value with one of these beginnings."""
        mask = np.zeros(self._document_count, dtype=np.bool_)
        last = None
        for key in sorted({encode_value(field, prefix) for prefix in prefixes}):
            # A shorter prefix has marked everything that begins with a longer one.
            if last is None or not key.startswith(last):
                self._mark(mask, *self._range(key))
                last = key
        return mask

    def values_of(self, field: str, most: int) -> list[str]:
        """Return the first `most` values of a field, sorted by their bytes."""
        key = encode_value(field, "")
        numbers = range(*self._range(key))[:most]
        return [self._keys[number].removeprefix(key).decode() for number in numbers]

    def _range(self, prefix: bytes) -> tuple[int, int]:
        return bisect_left(self._keys, prefix), bisect_left(self._keys, prefix + _AFTER_ALL)

    def _mark(self, mask: NDArray[np.bool_], first: int, last: int) -> None:
        mask[self._documents[int(self._starts[first]) : int(self._starts[last])]] = True


def encode_value(field: str, value: str) -> bytes:
    """Return the key of a value: `field U+001F value`."""
    return f"{field}{_SEPARATOR}{value}".encode("utf-8", "replace")
