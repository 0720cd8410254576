"""The records that an index holds and a server answers with, and the files that hold them."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from ..retrieval.settings import IndexUnusableError
from .layout import open_array, open_bytes

Made = TypeVar("Made")


GOES_ON = "\u2026"  # Ends a title that is only the beginning of the text.


def telling_title(title: str, document_id: str, section: Sequence[str]) -> tuple[str, ...]:
    """Return the title of a document, or nothing if it repeats the section, the text or the id."""
    return () if title.endswith(GOES_ON) or title in (*section, document_id) else (title,)


class Record:
    """Base of answers, whose JSON leaves out defaults and the fields that have `exclude`."""

    __slots__ = ()
    # Serializers are made when they are first used: to start takes long enough.
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "defer_build": True}

    def to_json(self) -> dict[str, Any]:
        """Return the record as values that any writer of JSON takes."""
        record: Any = self
        return {
            one.metadata.get("alias", one.name): _to_json(value)
            for one in fields(record)
            if (value := getattr(self, one.name)) != one.default and not one.metadata.get("exclude")
        }


def _to_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [*map(_to_json, value)]
    return value.to_json() if isinstance(value, Record) else value


@dataclass(frozen=True, slots=True)
class Place(Record):
    """Where a copy of a document was found."""

    document_id: str
    source: str
    path: str
    url: str | None
    title: str


# Not frozen, as hits are not: one that is takes six times as long to make.
@dataclass(slots=True)
class ChunkRecord(Record):
    """A passage, verbatim, its character and line spans, and at most 10 places of copies."""

    id: str
    document_id: str
    title: str
    text: str
    section: list[str]
    position: dict[str, int]
    source: str
    path: str
    url: str | None
    tags: list[str]
    modified: str | None
    also_at: list[Place]

    @classmethod
    def from_json(cls, stored: dict[str, Any], *more: Any) -> Self:
        """Make a chunk of a line of the index, which has these fields in order, and `more`."""
        *values, copies = stored.values()
        values += [[Place(**copy) for copy in copies], *more]
        return cls(*values)

    def headings(self) -> list[str]:
        """Return the headings above the text: the title, if it tells something, and sections."""
        return [*telling_title(self.title, self.document_id, self.section), *self.section]

    def titled_section(self) -> list[str]:
        """Return the title and the section, to be shown in one line."""
        section = self.section[1:] if self.section[:1] == [self.title] else self.section
        return [self.title, *section]


def hash_key(text: str) -> int:
    """Return the 64-bit key under which an id is looked up."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


_decode = json.JSONDecoder().raw_decode  # json.loads takes twice as long.


class RecordLines:
    """Records as lines of JSON, found by number or by the hash of their id."""

    def __init__(self, path: Path, offsets: Path, ids: Path, count: int) -> None:
        """Map the files of `count` records; see `IndexLayout`. Raises IndexUnusableError."""
        self._path = path
        self._offsets = open_array(offsets, np.uint64, (count + 1,))
        self._keys, self._numbers = open_array(ids, np.uint64, (2, -1))
        self._bytes = open_bytes(path, int(self._offsets[-1]))

    def read(self, number: int, make: Callable[..., Made], *more: Any) -> Made:
        """Return what `make` makes of a record and `more`; IndexUnusableError where that fails."""
        try:
            start, end = self._offsets[number : number + 2].tolist()
            return make(_decode(str(self._bytes[start:end], "utf-8"))[0], *more)
        except (ValueError, LookupError, OverflowError, TypeError) as error:
            raise IndexUnusableError(f"{self._path}: record {number}: {error!r}") from None

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the records whose ids have the hash of this one, ascending."""
        key = np.uint64(hash_key(identifier))
        first, last = (np.searchsorted(self._keys, key, side) for side in ("left", "right"))
        return [*map(int, self._numbers[first:last])]
