"""Number the terms of an index, and write what its headings consist of.

Terms of the previous index are numbered by their places in its sorted vocabulary, and read from its
files, so that most of them need not be looked up or written one by one.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import look_up, offsets_of, open_stored, write_array
from foundry.indexing.handover import Handover
from foundry.indexing.previous import Previous
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.lines import hash_key
from foundry.runtime.index.tokens import HEADING_MARK, heading_parts

NO_TERM = 2**32 - 1

_AFTER_HEADINGS = chr(ord(HEADING_MARK) + 1)


class Vocabulary:
    """Numbers terms: those of a `previous` index by their places there, others as they come.

    After an index with the terms `oil` and `pump`, these have the numbers 0 and 1, and `lamp`, the
    first new one, has 2. In their order, which `sorted` gives, the numbers are 2, 0, 1: so `lamp`
    is written before the old terms.
    """

    def __init__(self, previous: Previous | None = None) -> None:
        self._numbers: dict[str, int] = {}
        # Of terms that are new: before which old term they stand, and how they are written.
        self._new: list[tuple[int, bytes]] = []
        self._old, self._offsets = b"", np.zeros(1, dtype=np.uint64).data
        self._handed_over = None if previous is None else previous.handover
        if previous is not None:
            self._old = previous.index.terms.read_bytes()
            self._offsets = open_stored(previous.index.term_offsets).astype(np.uint64).data
        self._old_count = len(self._offsets) - 1

    def __len__(self) -> int:
        return self._old_count + len(self._new)

    def find(self, term: str) -> int | None:
        """Return the number of a term that has one."""
        number = self._numbers.get(term)
        if number is None and self._old_count:
            text = term.encode()
            place = self._place_of(text)
            if place < self._old_count and self._text_of(place) == text:
                number = self._numbers[term] = place
        return number

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """Return the numbers of terms; new ones get theirs now."""
        known = self._numbers.get
        return [self._number(term) if (number := known(term)) is None else number for term in terms]

    def _number(self, term: str) -> int:
        text = term.encode()
        number = place = self._place_of(text)
        if place == self._old_count or self._text_of(place) != text:
            number = len(self)
            self._new.append((place, text))
        self._numbers[term] = number
        return number

    def sorted(self, numbers: Iterable[int]) -> list[int]:
        """Return numbers in the order of their terms' bytes."""
        return sorted(numbers, key=self._key if self._old_count else self._text_of)

    def write(self, layout: IndexLayout, frequencies: NDArray[np.int64]) -> NDArray[np.int64]:
        """Write the terms (v,) that occur, sorted; returns their numbers."""
        is_used = frequencies > 0
        old = np.flatnonzero(is_used[: self._old_count])
        gone = np.flatnonzero(~is_used[: self._old_count]).tolist()
        new = self.sorted((np.flatnonzero(is_used[self._old_count :]) + self._old_count).tolist())
        inserted = [self._new[number - self._old_count] for number in new]
        places = np.searchsorted(old, np.array([place for place, _ in inserted], dtype=np.int64))
        lengths = np.diff(np.asarray(self._offsets))[old]
        added = np.array([len(text) for _, text in inserted], dtype=np.uint64)
        lengths = np.insert(lengths, places, added)
        layout.terms.write_bytes(b"".join(self._stretches(inserted, gone)))
        write_array(layout.term_offsets, offsets_of(lengths))
        return np.insert(old, places, np.array(new, dtype=np.int64))

    def heading_impacts(
        self, order: NDArray[np.int64], idf: NDArray[np.float64], handover: Handover | None
    ) -> tuple[int, NDArray[np.float64]]:
        """Return the rank of the first heading term among all (v,), and for it and those after it
        the sums of the idf (v,) of their parts, which the next build is handed over.

        `order` has the numbers of the sorted terms. What a heading consists of need not be a term
        of a text, as the whole of `shop.Store.size` is not where it is put together from its parts:
        then it is as rare as the heading. A name as it is written has no parts.
        """
        first, last = (
            bisect_left(order, mark.encode(), key=self._text_of)
            for mark in (HEADING_MARK, _AFTER_HEADINGS)
        )
        ranks = np.full(len(self) + 1, -1, dtype=np.int64)
        ranks[order] = np.arange(len(order))
        owners, parts, hashes = self._carried_parts(ranks)
        new = order[first:last][order[first:last] >= self._old_count]
        found = [*map(heading_parts, (self._text_of(number).decode() for number in new.tolist()))]
        texts = [*chain.from_iterable(found)]
        find = self.find if self._old_count else self._numbers.get
        numbers = [-1 if number is None else number for number in map(find, texts)]
        counts = np.array([*map(len, found)], dtype=np.int64)
        owners = np.append(owners, np.repeat(ranks[new], counts))
        parts = np.append(parts, ranks[np.array(numbers, dtype=np.int64)])
        if handover is not None:
            is_missing = parts < 0
            unknown = np.flatnonzero(is_missing[len(hashes) :]).tolist()
            added = np.array([hash_key(texts[place]) for place in unknown], dtype=np.uint64)
            missing = np.append(hashes[is_missing[: len(hashes)]], added)
            write_array(handover.part_owners, owners.astype(np.uint32))
            write_array(handover.parts, np.where(is_missing, NO_TERM, parts).astype(np.uint32))
            write_array(handover.parts_missing, missing)
        weights = idf[np.where(parts < 0, owners, parts)]
        return first, np.bincount(owners - first, weights, last - first).astype(np.float64)

    def _carried_parts(
        self, ranks: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
        """Return pairs (p,) of heading terms and their parts by rank, and the parts' hashes.

        A part that is no term has a negative rank; only such a one has a hash.
        """
        if self._handed_over is None:
            none = np.zeros(0, dtype=np.int64)
            return none, none, none.astype(np.uint64)
        numbers = open_stored(self._handed_over.parts).astype(np.int64)
        is_missing = numbers == NO_TERM
        hashes = np.zeros(len(numbers), dtype=np.uint64)
        hashes[is_missing] = open_stored(self._handed_over.parts_missing)
        new = np.array([hash_key(text.decode()) for _, text in self._new], dtype=np.uint64)
        order = np.argsort(new)
        numbers[is_missing] = look_up(hashes[is_missing], new[order], order + self._old_count)
        parts = ranks[numbers]
        for place in np.flatnonzero((parts < 0) & (numbers >= 0)).tolist():
            hashes[place] = hash_key(self._text_of(int(numbers[place])).decode())
        owners = ranks[open_stored(self._handed_over.part_owners)]
        return owners[owners >= 0], parts[owners >= 0], hashes[owners >= 0]

    def _place_of(self, text: bytes) -> int:
        """Return before which old term a text sorts."""
        return bisect_left(range(self._old_count), text, key=self._text_of)

    def _text_of(self, number: int) -> bytes:
        if number < self._old_count:
            return self._old[self._offsets[number] : self._offsets[number + 1]]
        return self._new[number - self._old_count][1]

    def _key(self, number: int) -> tuple[float, bytes]:
        # New terms with the place of an old one come before it.
        is_old = number < self._old_count
        return (number + 0.5, b"") if is_old else self._new[number - self._old_count]

    def _stretches(
        self, inserted: Iterable[tuple[int, bytes]], gone: Iterable[int]
    ) -> Iterator[bytes]:
        """Yield the old terms, some left out and others inserted."""
        start = 0
        edits = [(place, 0, text) for place, text in inserted]
        edits += [(number, 1, b"") for number in gone]
        for place, count, text in sorted(edits):
            yield self._old[self._offsets[start] : self._offsets[place]]
            yield text
            start = place + count
        yield self._old[self._offsets[start] :]
