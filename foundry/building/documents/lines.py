"""Lines of tables whose documents are cached, so that they need not be parsed again.

A line with the same bytes, options and programs as before gives the same document. The stored lines
are deleted before the cache changes, and rewritten once all documents are prepared, so they never
refer to missing results.
"""

import json
from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import encode_json, offsets_of
from foundry.sources.records import ROW_HASH_BYTES, KnownRow

HASH_BYTES = 32

_ROWS = np.dtype(
    [
        ("line", f"V{ROW_HASH_BYTES}"),
        ("content", f"V{HASH_BYTES}"),
        ("number", "<u8"),
        ("columns", "<u4"),
        ("key_bytes", "<u4"),
    ]
)


@dataclass(slots=True)
class NotedRow(KnownRow):
    """A row, with the number and content of its entry in the cache."""

    number: int
    content: bytes


class LinesBuilder:
    """Collects the lines of a table that became documents, with each document's input position.

    The lines are kept in arrays of numbers, since a table may have millions of them.
    """

    def __init__(self) -> None:
        self._digests, self._keys = bytearray(), bytearray()
        self._places, self._columns, self._key_bytes = array("q"), array("I"), array("I")
        self._names: dict[tuple[str, ...], int] = {}

    def add(self, row: KnownRow, place: int) -> None:
        """Add a line."""
        key = row.key.encode()
        self._digests += row.digest
        self._keys += key
        self._places.append(place)
        self._columns.append(self._names.setdefault(row.columns, len(self._names)))
        self._key_bytes.append(len(key))

    def encode(self, origin: str, numbers: NDArray[np.int64], contents: NDArray[np.void]) -> bytes:
        """Encode the lines for `KnownLines`, for tables with this `origin`.

        `numbers` and `contents` belong to the cached documents. Documents that cannot be reused are
        left out: those with number 0 or without content.
        """
        places, sizes = np.array(self._places), np.array(self._key_bytes)
        rows = np.zeros(len(places), dtype=_ROWS)
        rows["line"] = np.frombuffer(self._digests, dtype=_ROWS["line"])
        rows["content"], rows["number"] = contents[places], np.maximum(numbers[places], 0)
        rows["columns"], rows["key_bytes"] = self._columns, sizes
        is_kept = (rows["number"] > 0) & (rows["content"] != np.void(bytes(HASH_BYTES)))
        keys = np.frombuffer(self._keys, dtype=np.uint8)[np.repeat(is_kept, sizes)]
        rows = rows[is_kept]
        described = {"origin": origin, "rows": len(rows), "columns": [*self._names]}
        return b"".join([encode_json(described), rows.view(np.uint8).data, keys.data])


class KnownLines:
    """Cached results for a table's lines, from a `LinesBuilder` with the same `origin`."""

    def __init__(self, noted: bytes | None, origin: str) -> None:
        head, _, rest = (noted or b"{}").partition(b"\n")
        described = json.loads(head)
        count = described["rows"] if described.get("origin") == origin else 0
        rows = np.frombuffer(rest, dtype=_ROWS, count=count)
        self._columns = [tuple(names) for names in described.get("columns", ())]
        self._keys, self._contents = rest[rows.nbytes :], rows["content"].tobytes()
        # Python integers are created three times as fast from a memoryview as from an array.
        self._numbers = rows["number"].copy().data
        self._columns_of = rows["columns"].copy().data
        self._ends = offsets_of(rows["key_bytes"]).data
        self._digests = rows["line"].tobytes()
        # Half of each hash is enough to tell them apart.
        halves = np.frombuffer(self._digests, dtype="<u8")[::2]
        self._order = np.argsort(halves, kind="stable")
        self._halves = halves[self._order]
        self._next = 0

    def find(self, digest: bytes) -> NotedRow | None:
        """Return the row of a line by its hash; None if it is not known."""
        # Most lines still follow the same line as last time.
        place = self._next if self._is_at(self._next, digest) else self._look_up(digest)
        if place is None:
            return None
        self._next = place + 1
        key = self._keys[self._ends[place] : self._ends[place + 1]].decode()
        content = self._contents[place * HASH_BYTES : (place + 1) * HASH_BYTES]
        columns = self._columns[self._columns_of[place]]
        return NotedRow(digest, key, columns, self._numbers[place], content)

    def _look_up(self, digest: bytes) -> int | None:
        if not len(self._order):
            return None
        first = int(np.searchsorted(self._halves, np.frombuffer(digest, dtype="<u8", count=1)[0]))
        places = self._order[first : first + 1].tolist()
        return next((place for place in places if self._is_at(place, digest)), None)

    def _is_at(self, place: int, digest: bytes) -> bool:
        start = place * ROW_HASH_BYTES
        return self._digests[start : start + ROW_HASH_BYTES] == digest
