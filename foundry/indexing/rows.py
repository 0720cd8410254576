"""Rows of different lengths, which grow while documents come, and are carried over in spans."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import offsets_of, write_array


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Rows as they were written: `offsets` (n + 1,) of the entries of each, and their columns."""

    offsets: NDArray[np.uint64]
    columns: Sequence[NDArray[Any]]

    @classmethod
    def open(cls, offsets: Path, *columns: Path) -> Self:
        """Map what `write` wrote."""
        return cls(open_stored(offsets), [*map(open_stored, columns)])

    def write(self, offsets: Path, *columns: Path) -> None:
        """Write the files."""
        write_array(offsets, self.offsets)
        for path, column in zip(columns, self.columns, strict=True):
            write_array(path, column)

    def span(self, first: int, last: int) -> slice:
        """Return the places of the entries of the rows from `first` to `last`."""
        return slice(int(self.offsets[first]), int(self.offsets[last]))

    def bytes(self, row: int) -> bytes:
        """Return a row of bytes."""
        return self.columns[0][self.span(row, row + 1)].tobytes()


class Rows:
    """Collects rows; each entry has a value in every column.

    `kinds` are the columns' types, as `array` names them.
    """

    def __init__(self, kinds: str) -> None:
        self._lengths = array("Q")
        self._columns = [array(kind) for kind in kinds]

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, *columns: Iterable[int]) -> None:
        """Take the next row."""
        before = len(self._columns[0])
        for column, values in zip(self._columns, columns, strict=True):
            if isinstance(values, bytes):
                column.frombytes(values)
            else:
                column.extend(values)
        self._lengths.append(len(self._columns[0]) - before)

    def carry(self, rows: StoredRows, first: int, last: int) -> None:
        """Take the rows from `first` to `last` of others."""
        self._lengths.frombytes(np.diff(rows.offsets[first : last + 1]).tobytes())
        span = rows.span(first, last)
        for column, stored in zip(self._columns, rows.columns, strict=True):
            column.frombytes(stored[span].tobytes())

    def stored(self) -> StoredRows:
        """Return what there is."""
        kinds = [np.dtype(column.typecode) for column in self._columns]
        columns = [
            np.array(column, kind) for column, kind in zip(self._columns, kinds, strict=True)
        ]
        return StoredRows(offsets_of(self._lengths), columns)


def open_stored(path: Path) -> NDArray[Any]:
    """Map a NumPy file read-only; one without elements is read, since it cannot be mapped."""
    array = np.load(path, allow_pickle=False, mmap_mode="r" if path.stat().st_size > 256 else None)
    return np.asarray(array)
