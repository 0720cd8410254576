"""Writes files of an index: equal content gives equal bytes, and large files are streamed."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from foundry.files import hash_file
from foundry.indexing.behind import COPIED_BYTES, FileBehind


def write_array(path: Path, values: NDArray[Any]) -> None:
    """Write a NumPy file, little endian, row major."""
    stored = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
    with path.open("wb") as file:
        np.lib.format.write_array(file, stored, version=(1, 0), allow_pickle=False)


def open_stored(path: Path) -> NDArray[Any]:
    """Map a NumPy file read-only; a small one is read, since an empty array cannot be mapped."""
    array = np.load(path, allow_pickle=False, mmap_mode="r" if path.stat().st_size > 256 else None)
    return np.asarray(array)


def write_stretches(path: Path, offsets: Path, stretches: Sequence[bytes]) -> None:
    """Write byte strings, concatenated, and their offsets."""
    path.write_bytes(b"".join(stretches))
    write_array(offsets, offsets_of([*map(len, stretches)]))


def offsets_of(lengths: ArrayLike) -> NDArray[np.uint64]:
    """Return the offsets (n + 1,) of n strings of the given lengths."""
    lengths = np.asarray(lengths, dtype=np.uint64)
    offsets = np.zeros(len(lengths) + 1, dtype=np.uint64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def split(content: bytes, offsets: NDArray[np.uint64]) -> list[bytes]:
    """Return the strings (n,) of `content` at offsets (n + 1,)."""
    return [content[start:end] for start, end in pairwise(offsets.tolist())]


def look_up(
    keys: NDArray[np.uint64], known: NDArray[np.uint64], holders: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the holder of each of `keys`, given the sorted `known` keys; -1 if it has none."""
    if not len(known):
        return np.full(len(keys), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, holders[places], -1)


def encode_json(value: object) -> bytes:
    """Return a line of compact JSON in UTF-8, with keys in their given order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def describe_files(
    root: Path, begun: Mapping[Path, Future[str]] = MappingProxyType({})
) -> dict[str, dict[str, int | str]]:
    """Return the size and SHA-256 of every file below `root`, by relative path.

    `begun` has the hashes that are already being computed, by file.
    """
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    with ThreadPoolExecutor() as threads:
        hashes = [begun.get(path) or threads.submit(hash_file, path) for path in paths]
        return {
            path.relative_to(root).as_posix(): {"bytes": path.stat().st_size, "sha256": found}
            for path, found in zip(paths, (each.result() for each in hashes), strict=True)
        }


class ArrayFile:
    """An array (n,) or (n, width) on disk to which rows are appended; n is set by `close`.

    The file is the same as one from `write_array`.
    """

    def __init__(self, path: Path, dtype: DTypeLike, width: int | None = None) -> None:
        self.path = path
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._row_shape = () if width is None else (width,)
        self._rows = 0
        self._file = FileBehind(path)
        # Headers have room for a longer shape, so that they can be overwritten.
        header = self._header()
        self._header_length = len(header)
        self._file.write(header)

    def append(self, rows: NDArray[np.generic]) -> None:
        """Append rows, (m,) or (m, width)."""
        assert rows.shape[1:] == self._row_shape
        self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).data)
        self._rows += len(rows)

    def close(self) -> None:
        """Write the header for the final number of rows; no more can be appended."""
        header = self._header()
        assert len(header) == self._header_length
        self._file.close(header)

    def read(self, first: int, count: int) -> NDArray[Any]:
        """Return up to `count` rows, starting at `first`, once the file is closed."""
        count = min(count, self._rows - first)
        width = int(np.prod(self._row_shape, dtype=np.int64))
        with self.path.open("rb") as file:
            file.seek(self._header_length + first * width * self._dtype.itemsize)
            rows = np.fromfile(file, dtype=self._dtype, count=count * width)
        return rows.reshape(count, *self._row_shape)

    def _header(self) -> bytes:
        described = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._rows, *self._row_shape),
        }
        header = BytesIO()
        np.lib.format.write_array_header_1_0(header, described)
        return header.getvalue()


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Stored rows: the offsets (n + 1,) of their entries, and the columns."""

    offsets: NDArray[np.uint64]
    columns: Sequence[NDArray[Any]]

    @classmethod
    def open(cls, path: Path, columns: int = 1) -> Self:
        """Map the files that `write` wrote."""
        paths = [_beside(path, str(number)) for number in range(columns)]
        return cls(open_stored(_beside(path, "offsets")), [*map(open_stored, paths)])

    def write(self, path: Path) -> None:
        """Write a file for the offsets, and a file per column, with the prefix `path`."""
        write_array(_beside(path, "offsets"), self.offsets)
        for number, column in enumerate(self.columns):
            write_array(_beside(path, str(number)), column)

    def span(self, first: int, last: int) -> slice:
        """Return the slice of the entries of the rows from `first` to before `last`."""
        return slice(int(self.offsets[first]), int(self.offsets[last]))

    def bytes(self, row: int) -> bytes:
        """Return a row of the first column as bytes."""
        # Indexing a NumPy array creates NumPy numbers, which would dominate the time.
        item = self.offsets.item
        return self.columns[0][item(row) : item(row + 1)].tobytes()


def _beside(path: Path, part: str) -> Path:
    return path.with_name(f"{path.name}.{part}.npy")


class Rows:
    """Collects rows of different lengths; each entry has a value in every column.

    `kinds` are the column types, as in `array`.
    """

    def __init__(self, kinds: str) -> None:
        self._lengths = array("Q")
        self._columns = [array(kind) for kind in kinds]

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def entries(self) -> int:
        """Number of entries in all rows."""
        return len(self._columns[0])

    def add(self, *columns: Iterable[int]) -> None:
        """Add a row, given its values in each column as numbers or packed bytes."""
        before = len(self._columns[0])
        for column, values in zip(self._columns, columns, strict=True):
            if isinstance(values, bytes):
                column.frombytes(values)
            else:
                column.extend(values)
        self._lengths.append(len(self._columns[0]) - before)

    def add_single(self, entries: bytes) -> None:
        """Add a row for each of the packed entries of the only column."""
        before = self.entries
        self._columns[0].frombytes(entries)
        self._lengths.extend(repeat(1, self.entries - before))

    def add_many(self, lengths: bytes | Iterable[int], *columns: bytes) -> None:
        """Add rows of these `lengths` (n,), which may be packed uint64; the columns are packed."""
        for column, values in zip(self._columns, columns, strict=True):
            column.frombytes(values)
        if isinstance(lengths, bytes):
            self._lengths.frombytes(lengths)
        else:
            self._lengths.extend(lengths)

    def carry(self, rows: StoredRows, first: int, last: int) -> None:
        """Copy the rows from `first` up to, but excluding, `last` of other rows."""
        self._lengths.frombytes(np.diff(rows.offsets[first : last + 1]).tobytes())
        span = rows.span(first, last)
        for column, stored in zip(self._columns, rows.columns, strict=True):
            column.frombytes(stored[span].tobytes())

    def stored(self) -> StoredRows:
        """Return the rows so far."""
        columns = [np.array(column, np.dtype(column.typecode)) for column in self._columns]
        return StoredRows(offsets_of(self._lengths), columns)


@dataclass(frozen=True, slots=True)
class StoredRecords:
    """The records of a published index, as lines of JSON, with the hashes of their ids."""

    path: Path
    offsets: NDArray[np.uint64]
    ids: StoredRows

    @classmethod
    def open(cls, path: Path, offsets: Path, ids: Path) -> Self:
        """Map the files that a `RecordFile` wrote."""
        keys, numbers = open_stored(ids)
        ends = open_stored(offsets)
        counts = np.bincount(numbers.astype(np.int64), minlength=len(ends) - 1)
        rows = StoredRows(offsets_of(counts), [keys[np.argsort(numbers, kind="stable")]])
        return cls(path, ends, rows)

    def blocks(self, first: int, last: int) -> Iterator[bytes]:
        """Yield the lines of the records from `first` to before `last`, in blocks of bytes."""
        start, end = self.offsets[[first, last]].tolist()
        with self.path.open("rb") as file:
            file.seek(start)
            for left in range(end - start, 0, -COPIED_BYTES):
                yield file.read(min(left, COPIED_BYTES))


class RecordFile:
    """A growing file of records. Always call `close`."""

    def __init__(self, path: Path) -> None:
        self._file = FileBehind(path)
        self._lengths = array("Q")
        self._ids = Rows("Q")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, line: bytes, ids: Iterable[int]) -> None:
        """Write the next record, which can be found by the hashes of its ids."""
        self._file.write(line)
        self._lengths.append(len(line))
        self._ids.add(ids)

    def add_lines(self, lines: bytes, lengths: bytes, ids: bytes) -> None:
        """Write the next records, which have these uint64 `lengths` (n,) and `ids` (n,)."""
        self._file.write(lines)
        self._lengths.frombytes(lengths)
        self._ids.add_single(ids)

    def carry(self, records: StoredRecords, first: int, last: int) -> None:
        """Append the records from `first` up to, but excluding, `last` of another file."""
        self._file.copy(records.blocks(first, last))
        self._lengths.frombytes(np.diff(records.offsets[first : last + 1]).tobytes())
        self._ids.carry(records.ids, first, last)

    def write_tables(self, offsets: Path, ids: Path) -> None:
        """Write the offsets of records, and the sorted hashes of their ids with their numbers.

        Equal hashes are ordered by number.
        """
        write_array(offsets, offsets_of(self._lengths))
        rows = self._ids.stored()
        (keys,) = rows.columns
        numbers = np.arange(len(self), dtype=np.uint64)
        numbers = np.repeat(numbers, np.diff(rows.offsets).astype(np.int64))
        order = np.argsort(keys, kind="stable")
        write_array(ids, np.stack([keys[order], numbers[order]]))

    def close(self) -> None:
        """Close the file; no more records can be added."""
        self._file.close()
