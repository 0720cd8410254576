"""The filter values of documents, sorted, each with its documents."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..index.layout import IndexLayout, Vocabulary, open_array

AFTER_ALL = b"\xff"  # Greater than every byte of UTF-8


@dataclass(frozen=True, slots=True, eq=False)
class ValueTable:
    """Maps values to documents (m,): the entries of `keys[i]` start at `starts[i]`.

    Keys are sorted, so keys with a common prefix are adjacent.
    """

    keys: Sequence[bytes]
    starts: NDArray[np.uint64]
    documents: NDArray[np.uint32]
    document_count: int

    @classmethod
    def open(cls, layout: IndexLayout, document_count: int) -> "ValueTable":
        """Memory-map the files of the table. Raises IndexUnusableError."""
        keys = Vocabulary.open(layout.filter_values, layout.filter_value_offsets)
        starts = open_array(layout.filter_document_offsets, np.uint64, (len(keys) + 1,))
        documents = open_array(layout.filter_documents, np.uint32, (int(starts[-1]),))
        return cls(keys, starts, documents, document_count)

    def having(
        self, field: str, values: Iterable[str], *, as_beginnings: bool = False
    ) -> NDArray[np.bool_]:
        """Return which documents (m,) have one of these values.

        With `as_beginnings`, a value need only begin with one of them.
        """
        mask = np.zeros(self.document_count, dtype=np.bool_)
        marked = 0
        for key in sorted({encode_value(field, value) for value in values}):
            first, last = self._range(key, AFTER_ALL if as_beginnings else b"\0")
            # A shorter prefix already covers a longer one.
            if last > marked:
                mask[self.documents[int(self.starts[first]) : int(self.starts[last])]] = True
                marked = last
        return mask

    def values_of(self, field: str, most: int) -> list[str]:
        """Return the first `most` values of a field, sorted by their bytes."""
        key = encode_value(field, "")
        numbers = range(*self._range(key))[:most]
        return [self.keys[number].removeprefix(key).decode() for number in numbers]

    def children(self, folder: str, after: str | None) -> Iterator[tuple[str, NDArray[np.uint32]]]:
        """Yield each path directly in a folder ("" for the root) with its documents, in byte order.

        A path that ends with a slash is a folder, with all documents below it. Paths up to `after`,
        the last path of the previous page, are skipped.
        """
        prefix = encode_value("path", folder)
        first, last = self._range(prefix)
        if after is not None:
            past = AFTER_ALL if after.endswith("/") and after != folder else b"\0"
            first = max(first, bisect_left(self.keys, encode_value("path", after) + past))
        while first < last:
            name, slash, _ = self.keys[first].removeprefix(prefix).partition(b"/")
            found = prefix + name + slash
            end = bisect_left(self.keys, found + (AFTER_ALL if slash else b"\0"), first, last)
            documents = self.documents[int(self.starts[first]) : int(self.starts[end])]
            found_here = np.sort(documents)
            is_first = np.ones(len(found_here), bool)
            # Twenty times as fast as np.unique for a million documents.
            np.not_equal(found_here[1:], found_here[:-1], out=is_first[1:])
            yield folder + (name + slash).decode(), found_here[is_first]
            first = end

    def entries_of(self, field: str) -> int:
        """Return the number of entries of a field: one for each pair of document and value."""
        first, last = self._range(encode_value(field, ""))
        return int(self.starts[last] - self.starts[first])

    def values_in(self, field: str, documents: NDArray[np.int64]) -> Iterator[tuple[str, int]]:
        """Yield the values of a field in documents (m,), each with its document."""
        key = encode_value(field, "")
        first, last = self._range(key)
        starts = self.starts[first : last + 1]
        listed = self.documents[int(starts[0]) : int(starts[-1])]
        places, owners = find_entries(starts, listed, documents)
        for owner, document in zip(owners, listed[places].tolist(), strict=True):
            yield self.keys[first + owner].removeprefix(key).decode(), document

    def _range(self, prefix: bytes, end: bytes = AFTER_ALL) -> tuple[int, int]:
        return bisect_left(self.keys, prefix), bisect_left(self.keys, prefix + end)


def find_entries(
    starts: NDArray[np.uint64], entries: NDArray[np.uint32], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[int]]:
    """Return the positions of the `entries` (e,) that are in `wanted`, and the lists they are in.

    The entries of several lists are concatenated: list i begins at `starts[i] - starts[0]`. Lists
    are returned by number, one for each position.
    """
    is_wanted = np.zeros(int(max(entries.max(initial=0), wanted.max(initial=0))) + 1, np.bool_)
    is_wanted[wanted] = True
    places = np.flatnonzero(is_wanted[entries])
    ends = (starts[1:] - starts[0]).astype(np.int64)
    return places, ends.searchsorted(places, "right").tolist()


def encode_value(field: str, value: str) -> bytes:
    """Return the key of a value: `field U+001F value`."""
    return f"{field}\x1f{value}".encode("utf-8", "replace")
