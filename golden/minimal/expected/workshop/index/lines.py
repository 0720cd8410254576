"""Records stored as JSON lines, looked up by number or id."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import IndexUnusableError, cause_of
from .layout import open_array, open_bytes
from .protocols import Made, Row
from .records import Place


def hash_key(text: str) -> int:
    """Return the 64-bit hash of an id or a term."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


def make_record(make: Callable[..., Made], stored: Mapping[str, Any], **more: Any) -> Made:
    """Call `make` with the fields of a stored record and the extra fields in `more`."""
    copies = [Place(**copy) for copy in stored["also_at"]]
    return make(**{**stored, **more, "also_at": copies})


decode = json.JSONDecoder().raw_decode  # Twice as fast as json.loads.


class RecordLines:
    """Records stored as JSON lines, looked up by number or by the hash of their id."""

    def __init__(self, path: Path, offsets: Path, ids: Path, count: int) -> None:
        """Memory-map the files of `count` records; see `IndexLayout`. Raises IndexUnusableError."""
        self._path = path
        self._offsets = open_array(offsets, np.uint64, (count + 1,))
        self._keys, self._numbers = open_array(ids, np.uint64, (2, -1))
        self._bytes = open_bytes(path, int(self._offsets[-1]))

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record made by `make`. Raises IndexUnusableError."""
        try:
            start, end = self._offsets[number : number + 2].tolist()
            return make_record(make, decode(str(self._bytes[start:end], "utf-8"))[0], **more)
        except (ValueError, LookupError, OverflowError, TypeError, AttributeError) as error:
            raise IndexUnusableError(f"{self._path}: record {number}: {cause_of(error)}") from None

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Lazily yield the record of each row, merged with the row's extra fields."""
        return (self.read(number, make, **more) for number, more in rows)

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of all records whose id has the same hash, ascending."""
        key = np.uint64(hash_key(identifier))
        first, last = (np.searchsorted(self._keys, key, side) for side in ("left", "right"))
        return [*map(int, self._numbers[first:last])]
