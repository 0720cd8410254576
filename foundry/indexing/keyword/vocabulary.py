"""Numbers the terms of an index, and computes the impacts of its heading terms.

Terms of the previous index are numbered by position in its sorted vocabulary and copied from its
files, so most are neither looked up nor written one by one.
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import offsets_of, open_stored, write_array
from foundry.runtime.index.heading_terms import HEADING_MARK, SURFACE_MARK
from foundry.runtime.index.layout import IndexLayout

NO_TERM = 2**32 - 1

_HEADING, _SURFACE = HEADING_MARK.encode(), SURFACE_MARK.encode()
_AFTER_HEADINGS = chr(ord(HEADING_MARK) + 1).encode()


class _Numbers(dict[str, int]):
    """The numbers of terms; a term that is looked up for the first time gets the next number."""

    def __init__(self, number: Callable[[str], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, term: str) -> int:
        number = self[term] = self._number(term)
        return number


class Vocabulary:
    """Numbers terms: terms of the previous index by position, new terms consecutively.

    If the previous index has `oil` and `pump`, these are 0 and 1, and the first new term, `lamp`,
    is 2. `sorted` returns the numbers 2, 0, 1: `lamp` precedes the old terms.
    """

    def __init__(self, before: IndexLayout | None = None) -> None:
        # For each new term: its text, and the old term that follows it.
        self._new: list[bytes] = []
        self._places: list[int] = []
        self._old, self._offsets = b"", np.zeros(1, dtype=np.uint64).data
        if before is not None:
            self._old = before.terms.read_bytes()
            self._offsets = open_stored(before.term_offsets).astype(np.uint64).data
        self._old_count = len(self._offsets) - 1
        self._ordered = np.zeros(0, dtype=np.int64)
        # Without old terms, a counter numbers the new ones.
        self._numbers: dict[str, int] = defaultdict(count().__next__)
        if self._old_count:
            self._numbers = _Numbers(self._number)

    def __len__(self) -> int:
        return self._old_count + len(self._new) if self._old_count else len(self._numbers)

    def numbers(self, terms: Sequence[str]) -> NDArray[np.uint32]:
        """Return the numbers (n,) of terms, assigning new ones."""
        return np.fromiter(map(self._numbers.__getitem__, terms), np.uint32, len(terms))

    def _number(self, term: str) -> int:
        text = term.encode()
        number = place = self._place_of(text)
        if place == self._old_count or self._text_of(place) != text:
            number = len(self)
            self._new.append(text)
            self._places.append(place)
        return number

    def sorted(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers (n,) sorted by the bytes of their terms."""
        if not self._old_count:
            added = islice(self._numbers, len(self._new), None)
            self._new += [term.encode() for term in added]
        # Already sorted numbers come first, since sorting is fast if the beginning is sorted.
        others = np.setdiff1d(numbers, self._ordered, assume_unique=True)
        begun = self._ordered[np.isin(self._ordered, numbers, assume_unique=True)]
        given = np.concatenate([begun, others]).tolist()
        key = self._key if self._old_count else self._new.__getitem__
        self._ordered = np.array(sorted(given, key=key), dtype=np.int64)
        return self._ordered

    def write(self, layout: IndexLayout, frequencies: NDArray[np.int64]) -> NDArray[np.int64]:
        """Write the terms (v,) that occur, sorted; return their numbers."""
        is_used = frequencies > 0
        old = np.flatnonzero(is_used[: self._old_count])
        gone = np.flatnonzero(~is_used[: self._old_count]).tolist()
        new = self.sorted(np.flatnonzero(is_used[self._old_count :]) + self._old_count)
        inserted = [self._of_new(number) for number in (new - self._old_count).tolist()]
        places = np.searchsorted(old, np.array([place for place, _ in inserted], dtype=np.int64))
        lengths = np.diff(np.asarray(self._offsets))[old]
        added = np.array([len(text) for _, text in inserted], dtype=np.uint64)
        lengths = np.insert(lengths, places, added)
        layout.terms.write_bytes(b"".join(self._stretches(inserted, gone)))
        write_array(layout.term_offsets, offsets_of(lengths))
        return np.insert(old, places, new)

    def heading_impacts(
        self, order: NDArray[np.int64], idf: NDArray[np.float64]
    ) -> tuple[int, NDArray[np.float64]]:
        """Return the rank of the first heading term, and the impact (h,) of each heading term.

        An impact is the sum of the idfs of the term's parts. `order` (v,) has the numbers of the
        sorted terms, `idf` (v,) their idfs. A part need not be a text term: where `shop.Store.size`
        is built from its parts, no text contains the whole. Then the part is as rare as the
        heading. A name's exact spelling has no parts, only its own idf.
        """
        terms = [*map(self._text_of, order.tolist())]
        first, last = (bisect_left(terms, mark) for mark in (_HEADING, _AFTER_HEADINGS))
        ranks = {term: rank for rank, term in enumerate(terms) if not first <= rank < last}
        owners, parts = array("q"), array("q")
        for rank in range(first, last):
            term = terms[rank]
            own = [] if term.startswith(_SURFACE) else term[len(_HEADING) :].split(b" ")
            found = [ranks.get(part, rank) for part in own] or [rank]
            parts.extend(found)
            owners.extend([rank - first] * len(found))
        weights = idf[np.array(parts, dtype=np.int64)]
        sums = np.bincount(np.array(owners, dtype=np.int64), weights, last - first)
        return first, sums.astype(np.float64)

    def _place_of(self, text: bytes) -> int:
        """Return the number of a text among the old terms, or of the first old term after it."""
        return bisect_left(range(self._old_count), text, key=self._text_of)

    def _text_of(self, number: int) -> bytes:
        if number < self._old_count:
            return self._old[self._offsets[number] : self._offsets[number + 1]]
        return self._new[number - self._old_count]

    def _of_new(self, place: int) -> tuple[int, bytes]:
        return self._places[place] if self._places else 0, self._new[place]

    def _key(self, number: int) -> tuple[float, bytes]:
        # New terms at the position of an old term precede it.
        is_old = number < self._old_count
        return (number + 0.5, b"") if is_old else self._of_new(number - self._old_count)

    def _stretches(
        self, inserted: Iterable[tuple[int, bytes]], gone: Iterable[int]
    ) -> Iterator[bytes]:
        """Yield the old terms, with `inserted` terms added and `gone` terms removed."""
        start = 0
        edits = [(place, 0, text) for place, text in inserted]
        edits += [(number, 1, b"") for number in gone]
        for place, removed, text in sorted(edits):
            yield self._old[self._offsets[start] : self._offsets[place]]
            yield text
            start = place + removed
        yield self._old[self._offsets[start] :]
