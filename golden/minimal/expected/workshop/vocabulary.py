"""The vocabulary of an index, searched where it lies."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

REMEMBERED_TERMS = 8_192
MAX_REMEMBERED_LENGTH = 64
"""Characters of a term that is kept, so that what queries bring stays small."""


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


def remembering(vocabulary: Vocabulary) -> Callable[[str], int | None]:
    """Return `vocabulary.find` with what it last found for short terms."""
    remembered = lru_cache(REMEMBERED_TERMS)(vocabulary.find)

    def find(term: str) -> int | None:
        short = len(term) <= MAX_REMEMBERED_LENGTH
        return remembered(term) if short else vocabulary.find(term)

    return find
