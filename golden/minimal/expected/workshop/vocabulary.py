"""The vocabulary of an index, searched where it lies."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Vocabulary(Sequence[bytes]):
    """The sorted terms of an index, read in place."""

    def __init__(self, terms: memoryview, offsets: NDArray[np.uint64]) -> None:
        self._terms = terms
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:  # type: ignore[override]
        return bytes(self._terms[int(self._offsets[number]) : int(self._offsets[number + 1])])

    def find(self, term: str) -> int | None:
        """The number of `term`, or None."""
        encoded = term.encode("utf-8", "replace")
        number = bisect_left(self, encoded)
        return number if number < len(self) and self[number] == encoded else None
