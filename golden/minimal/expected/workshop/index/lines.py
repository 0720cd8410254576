"""Records stored as JSON lines, looked up by number or id."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import tee
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


_decode = json.JSONDecoder().raw_decode  # Twice as fast as json.loads.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_IDS = re.compile(rb'\{"id":"([^"\\]*)","document_id":"([^"\\]*)",')


@dataclass(slots=True)
class StoredLine:
    """A record as stored, in one line of JSON; `source` and `number` are named in errors."""

    json: bytes
    source: object
    number: int

    def read(self, make: Callable[..., Made], **more: Any) -> Made:
        """Return the record made by `make`. Raises IndexUnusableError."""
        try:
            return make_record(make, _decode(str(self.json, "utf-8"))[0], **more)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _damaged(self.source, self.number, error) from None

    def ids(self) -> tuple[str, str]:
        """Return the ids of a chunk and its document, a tenth of the work of reading it."""
        found = _IDS.match(self.json)
        if found is None:
            raise _damaged(self.source, self.number, ValueError("lacks ids"))
        return found[1].decode(), found[2].decode()

    def modified(self) -> str:
        """Return when a chunk's document was modified; empty if that is unknown."""
        stored = self.json.rpartition(b'"modified":')[2]
        try:
            return _decode(str(stored, "utf-8"))[0] or ""
        except ValueError as error:
            raise _damaged(self.source, self.number, error) from None

    def headings(self) -> tuple[bytes, bytes]:
        """Return the title and the headings of a chunk, encoded."""
        # A key cannot be within a string, where quotation marks are escaped.
        line, title = self.json, self.json.find(b'"title":')
        text, section = line.find(b',"text":', title), line.rfind(b',"section":')
        return line[title:text], line[section : line.find(b',"position":', section)]

    def text(self) -> bytes:
        """Return the text of a chunk without white space."""
        _, _, rest = self.json.partition(b',"text":')
        try:
            text: bytes = _decode(str(rest, "utf-8"))[0].encode(errors="replace")
        except (ValueError, AttributeError) as error:
            raise _damaged(self.source, self.number, error) from None
        # Translating takes a fifth of the time of splitting.
        return text.translate(None, b" \t\n\r")


def line_of(record: Mapping[str, Any]) -> StoredLine:
    """Return a record as it is stored."""
    return StoredLine(_encode(record).encode("utf-8", "replace"), "a record", 0)


def _damaged(source: object, number: int, error: Exception) -> IndexUnusableError:
    return IndexUnusableError(f"{source}: record {number}: {cause_of(error)}")


class RecordLines:
    """Records stored as JSON lines, looked up by number or by the hash of their id."""

    def __init__(self, path: Path, offsets: Path, ids: Path, count: int) -> None:
        """Map the files of `count` records; see `IndexLayout`. Raises IndexUnusableError."""
        self._path = path
        self._offsets = open_array(offsets, np.uint64, (count + 1,))
        self._keys, self._numbers = open_array(ids, np.uint64, (2, -1))
        self._bytes = open_bytes(path, int(self._offsets[-1]))

    def lines(self, numbers: Iterable[int]) -> Iterator[StoredLine]:
        """Lazily yield records as stored. Raises IndexUnusableError."""
        for number in numbers:
            try:
                start, end = self._offsets[number : number + 2].tolist()
            except ValueError as error:
                raise _damaged(self._path, number, error) from None
            yield StoredLine(bytes(self._bytes[start:end]), self._path, number)

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record made by `make`. Raises IndexUnusableError."""
        return next(self.lines([number])).read(make, **more)

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Lazily yield the record of each row, merged with the row's extra fields."""
        rows, again = tee(rows)
        lines = self.lines(number for number, _ in again)
        return (line.read(make, **more) for line, (_, more) in zip(lines, rows, strict=True))

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of all records whose id has the same hash, ascending."""
        key = np.uint64(hash_key(identifier))
        first, last = (np.searchsorted(self._keys, key, side) for side in ("left", "right"))
        return [*map(int, self._numbers[first:last])]
