"""Tables of an index, looked up in place: records by id, terms, and values of filters."""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .arrays import REBUILD_HINT, open_array, open_bytes
from .errors import IndexUnusableError
from .layout import IndexLayout, hash_key

REMEMBERED_TERMS = 8_192
MAX_REMEMBERED_LENGTH = 64
"""Characters of a term that is kept, so that what queries bring stays small."""

SEPARATOR = b"\x1f"
_AFTER_ALL = b"\xff"
"""Greater than every byte of UTF-8."""

Record = TypeVar("Record")


class Records(Generic[Record]):
    """Chunks or documents: lines of JSON, found by number or by id."""

    def __init__(
        self,
        path: Path,
        offsets: NDArray[np.uint64],
        ids: NDArray[np.uint64],
        make: Callable[[dict[str, Any]], Record],
    ) -> None:
        """Map the lines; see `IndexLayout`. `make` raises KeyError or TypeError for other JSON."""
        self._path = path
        self._offsets = offsets
        self._keys, self._numbers = ids
        self._make = make
        self._bytes = open_bytes(path, int(offsets[-1]))

    def __getitem__(self, number: int) -> Record:
        try:
            start, end = self._offsets[number : number + 2].tolist()
            return self._make(json.loads(str(self._bytes[start:end], "utf-8")))
        except (ValueError, LookupError, OverflowError, TypeError) as error:
            said = f"no {error}" if isinstance(error, KeyError) else error
            problem = f"{self._path}: record {number}: {said}"
            raise IndexUnusableError(problem, hint=REBUILD_HINT) from None

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the records whose ids have the hash of this one, ascending."""
        key = np.uint64(hash_key(identifier))
        first, last = (np.searchsorted(self._keys, key, side) for side in ("left", "right"))
        numbers: list[int] = self._numbers[first:last].tolist()
        return numbers


class Vocabulary(Sequence[bytes]):
    """Sorted terms, in UTF-8, read in place."""

    def __init__(self, terms: memoryview, offsets: NDArray[np.uint64]) -> None:
        self._terms = terms
        self._offsets = offsets

    @classmethod
    def open(cls, layout: IndexLayout, terms: int) -> "Vocabulary":
        """Map the terms of an index that has so many. Raises IndexUnusableError."""
        offsets = open_array(layout.term_offsets, np.uint64, (terms + 1,))
        return cls(open_bytes(layout.terms, int(offsets[-1])), offsets)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return bytes(self._terms[int(self._offsets[number]) : int(self._offsets[number + 1])])

    def find(self, term: str) -> int | None:
        """Return the number of `term`, or None."""
        encoded = term.encode("utf-8", "replace")
        number = bisect_left(self, encoded)
        return number if number < len(self) and self[number] == encoded else None


def remembering(vocabulary: Vocabulary) -> Callable[[str], int | None]:
    """Return `vocabulary.find` with what it last found for short terms."""
    remembered = lru_cache(REMEMBERED_TERMS)(vocabulary.find)

    def find(term: str) -> int | None:
        short = len(term) <= MAX_REMEMBERED_LENGTH
        return remembered(term) if short else vocabulary.find(term)

    return find


class ValueTable:
    """Which documents have a path, a media type, or a value in a column of metadata.

    A value is looked up as `field U+001F value`; all paths that begin alike stand together.
    """

    def __init__(self, layout: IndexLayout, document_count: int) -> None:
        """Map the table's files. Raises IndexUnusableError."""
        offsets = open_array(layout.filter_value_offsets, np.uint64, (-1,))
        self._values = Vocabulary(open_bytes(layout.filter_values, int(offsets[-1])), offsets)
        self._starts = open_array(layout.filter_document_offsets, np.uint64, offsets.shape)
        shape = (int(self._starts[-1]),)
        self._documents = open_array(layout.filter_documents, np.uint32, shape)
        self._document_count = document_count

    def having(self, field: str, values: Iterable[str]) -> NDArray[np.bool_]:
        """Return which documents (m,) have one of these values."""
        mask = np.zeros(self._document_count, dtype=np.bool_)
        for key in {encode_value(field, value) for value in values}:
            place = bisect_left(self._values, key)
            if place < len(self._values) and self._values[place] == key:
                self._mark(mask, place, place + 1)
        return mask

    def beginning(self, field: str, prefixes: Iterable[str]) -> NDArray[np.bool_]:
        """Return which documents (m,) have a value with one of these beginnings."""
        mask = np.zeros(self._document_count, dtype=np.bool_)
        last = None
        for key in sorted({encode_value(field, prefix) for prefix in prefixes}):
            # What begins with a longer prefix has been marked with the shorter one.
            if last is None or not key.startswith(last):
                self._mark(mask, *self._range(key))
                last = key
        return mask

    def values_of(self, field: str, most: int) -> list[str]:
        """Return the first `most` values of a field, sorted by their bytes."""
        key = encode_value(field, "")
        first, last = self._range(key)
        return [
            self._values[number].removeprefix(key).decode()
            for number in range(first, min(last, first + most))
        ]

    def _range(self, prefix: bytes) -> tuple[int, int]:
        return bisect_left(self._values, prefix), bisect_left(self._values, prefix + _AFTER_ALL)

    def _mark(self, mask: NDArray[np.bool_], first: int, last: int) -> None:
        mask[self._documents[int(self._starts[first]) : int(self._starts[last])]] = True


def encode_value(field: str, value: str) -> bytes:
    """Return the key under which a value stands in the table."""
    return field.encode("utf-8", "replace") + SEPARATOR + value.encode("utf-8", "replace")
