"""The values of documents by which chunks are filtered: sorted, each with its documents."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..index.layout import IndexLayout, Vocabulary, open_array

AFTER_ALL = b"\xff"  # Greater than every byte of UTF-8.


@dataclass(frozen=True, slots=True, eq=False)
class ValueTable:
    """Which of m documents have a value: those of `keys[i]` go from `starts[i]` on.

    Keys are sorted, so that equal beginnings follow each other.
    """

    keys: Sequence[bytes]
    starts: NDArray[np.uint64]
    documents: NDArray[np.uint32]
    document_count: int

    @classmethod
    def open(cls, layout: IndexLayout, document_count: int) -> "ValueTable":
        """Map the files of the table. Raises IndexUnusableError."""
        keys = Vocabulary.open(layout.filter_values, layout.filter_value_offsets)
        starts = open_array(layout.filter_document_offsets, np.uint64, (len(keys) + 1,))
        documents = open_array(layout.filter_documents, np.uint32, (int(starts[-1]),))
        return cls(keys, starts, documents, document_count)

    def having(
        self, field: str, values: Iterable[str], *, as_beginnings: bool = False
    ) -> NDArray[np.bool_]:
        """Return which documents (m,) have one of these values, or one that begins like them."""
        mask = np.zeros(self.document_count, dtype=np.bool_)
        marked = 0
        for key in sorted({encode_value(field, value) for value in values}):
            first, last = self._range(key, AFTER_ALL if as_beginnings else b"\0")
            # A shorter beginning has marked everything that begins with a longer one.
            if last > marked:
                mask[self.documents[int(self.starts[first]) : int(self.starts[last])]] = True
                marked = last
        return mask

    def values_of(self, field: str, most: int) -> list[str]:
        """Return the first `most` values of a field, sorted by their bytes."""
        key = encode_value(field, "")
        numbers = range(*self._range(key))[:most]
        return [self.keys[number].removeprefix(key).decode() for number in numbers]

    def _range(self, prefix: bytes, end: bytes = AFTER_ALL) -> tuple[int, int]:
        return bisect_left(self.keys, prefix), bisect_left(self.keys, prefix + end)


def encode_value(field: str, value: str) -> bytes:
    """Return the key of a value: `field U+001F value`."""
    return f"{field}\x1f{value}".encode("utf-8", "replace")
