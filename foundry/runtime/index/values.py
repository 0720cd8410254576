"""Which documents have a value: a path, a media type, a column of metadata.

A value is looked up in one sorted table of `field U+001F value`, in which all paths that begin
alike stand together.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .arrays import Vocabulary, open_array, open_bytes

SEPARATOR = b"\x1f"
_AFTER_ALL = b"\xff"
"""Greater than every byte of UTF-8."""


@dataclass(frozen=True, slots=True)
class ValueTableLayout:
    """The files of the table under an index's folder, for w values."""

    root: Path

    @property
    def values(self) -> Path:
        """UTF-8: field, U+001F, value; sorted, without separators."""
        return self.root / "filters.values.bin"

    @property
    def value_offsets(self) -> Path:
        """uint64 (w + 1,): byte offsets into `values`."""
        return self.root / "filters.values.offsets.npy"

    @property
    def document_offsets(self) -> Path:
        """uint64 (w + 1,): where each value's documents begin in `documents`."""
        return self.root / "filters.documents.offsets.npy"

    @property
    def documents(self) -> Path:
        """uint32: document numbers by value, ascending within one."""
        return self.root / "filters.documents.npy"


class ValueTable:
    """The table of one index, mapped from disk."""

    def __init__(self, root: Path, document_count: int) -> None:
        """Map the files under `root`. Raises IndexUnusableError."""
        layout = ValueTableLayout(root)
        offsets = open_array(layout.value_offsets, np.uint64, (-1,))
        self._values = Vocabulary(open_bytes(layout.values, int(offsets[-1])), offsets)
        self._document_offsets = open_array(layout.document_offsets, np.uint64, offsets.shape)
        self._documents = open_array(
            layout.documents, np.uint32, (int(self._document_offsets[-1]),)
        )
        self._document_count = document_count

    def having(self, field: str, values: Iterable[str]) -> NDArray[np.bool_]:
        """The documents (m,) that have one of these values."""
        mask = np.zeros(self._document_count, dtype=np.bool_)
        for key in {encode_value(field, value) for value in values}:
            place = bisect_left(self._values, key)
            if place < len(self._values) and self._values[place] == key:
                self._mark(mask, place, place + 1)
        return mask

    def beginning(self, field: str, prefixes: Iterable[str]) -> NDArray[np.bool_]:
        """The documents (m,) that have a value with one of these beginnings."""
        mask = np.zeros(self._document_count, dtype=np.bool_)
        last = None
        for key in sorted({encode_value(field, prefix) for prefix in prefixes}):
            # What begins with a longer prefix has been marked with the shorter one.
            if last is None or not key.startswith(last):
                first = bisect_left(self._values, key)
                self._mark(mask, first, bisect_left(self._values, key + _AFTER_ALL))
                last = key
        return mask

    def values_of(self, field: str, most: int) -> list[str]:
        """The first `most` values of a field, sorted by their bytes."""
        key = encode_value(field, "")
        first, last = bisect_left(self._values, key), bisect_left(self._values, key + _AFTER_ALL)
        return [
            self._values[number].removeprefix(key).decode()
            for number in range(first, min(last, first + most))
        ]

    def _mark(self, mask: NDArray[np.bool_], first: int, last: int) -> None:
        start, end = int(self._document_offsets[first]), int(self._document_offsets[last])
        mask[self._documents[start:end]] = True


def encode_value(field: str, value: str) -> bytes:
    """The key under which a value stands in the table."""
    return field.encode("utf-8", "replace") + SEPARATOR + value.encode("utf-8", "replace")
