"""Records of an index, a line of JSON each, and the table by which their ids are looked up."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import encode_json, offsets_of, write_array
from foundry.indexing.rows import open_stored
from foundry.runtime.index.layout import open_bytes
from foundry.runtime.index.reader import hash_key


@dataclass(frozen=True, slots=True)
class StoredRecords:
    """Records of a published index; `keys` of their ids in the order of `numbers`, ascending."""

    content: memoryview
    offsets: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    numbers: NDArray[np.uint64]

    @classmethod
    def open(cls, path: Path, offsets: Path, ids: Path) -> Self:
        """Map what `RecordFile` wrote."""
        keys, numbers = open_stored(ids)
        order = np.argsort(numbers, kind="stable")
        ends = open_stored(offsets)
        return cls(open_bytes(path, int(ends[-1])), ends, keys[order], numbers[order])


class RecordFile:
    """A file of records that grows; `close` it in any case."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._lengths = array("Q")
        self._keys = array("Q")
        self._numbers = array("Q")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, record: object, ids: Iterable[str]) -> None:
        """Write the next record, which can be found by these ids."""
        for identifier in ids:
            self._keys.append(hash_key(identifier))
            self._numbers.append(len(self))
        line = encode_json(record)
        self._file.write(line)
        self._lengths.append(len(line))

    def carry(self, records: StoredRecords, first: int, last: int) -> None:
        """Write the records from `first` to `last` of another file next."""
        keyed = slice(*np.searchsorted(records.numbers, [first, last]).tolist())
        self._keys.frombytes(records.keys[keyed].tobytes())
        moved = records.numbers[keyed] + np.uint64(len(self)) - np.uint64(first)
        self._numbers.frombytes(moved.tobytes())
        start, end = records.offsets[[first, last]].tolist()
        self._file.write(records.content[start:end])
        self._lengths.frombytes(np.diff(records.offsets[first : last + 1]).tobytes())

    def write_tables(self, offsets: Path, ids: Path) -> None:
        """Write where records lie, and the sorted keys of their ids with their numbers.

        Numbers are in the order given where keys are equal.
        """
        write_array(offsets, offsets_of(self._lengths))
        keys = np.array(self._keys, dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        write_array(ids, np.stack([keys[order], np.array(self._numbers, dtype=np.uint64)[order]]))

    def close(self) -> None:
        """Close the file; no more can be added."""
        self._file.close()
