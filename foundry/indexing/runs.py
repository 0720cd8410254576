"""Postings on their way into an index: sorted runs on disk, merged by ranges of terms.

An external merge sort (Heinz and Zobel 2003, Efficient Single-Pass Index Construction for Text
Databases): what is held in memory at a time does not grow with the corpus, but for 8 bytes for
each term of each run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

RUN_POSTINGS = 2**21
"""Postings of a run, and of a range of terms when runs are merged; one term may have more."""

_WORD = 4


@dataclass(frozen=True, slots=True)
class _Run:
    """Its terms by number, ascending by bytes, how many postings each has, and where they begin."""

    terms: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]
    start: int


@dataclass(frozen=True, slots=True)
class TermRange:
    """The postings (p,) of some successive terms, by term and then by chunk.

    `terms` are ranks in the vocabulary, `counts` say how often the term stands in the chunk.
    """

    terms: NDArray[np.uint32]
    chunks: NDArray[np.uint32]
    counts: NDArray[np.uint32]


class PostingRuns:
    """Runs of postings, one after the other in the file `path`; `remove` it when all is done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._runs: list[_Run] = []

    def add(
        self,
        terms: NDArray[np.uint32],
        chunks: NDArray[np.uint32],
        counts: NDArray[np.uint32],
        names: list[str],
    ) -> None:
        """Take postings (p,) of chunks after all those before; `names` are those of all terms."""
        frequencies = np.bincount(terms, minlength=len(names))
        found = np.flatnonzero(frequencies).tolist()
        ordered = np.array(sorted(found, key=lambda term: names[term].encode()), dtype=np.uint32)
        places = np.zeros(len(names), dtype=np.uint32)
        places[ordered] = np.arange(len(ordered), dtype=np.uint32)
        order = np.argsort(places[terms], kind="stable")
        with self._path.open("ab") as file:
            start = file.tell()
            file.write(chunks[order].data)
            file.write(counts[order].data)
        self._runs.append(_Run(ordered, frequencies[ordered].astype(np.uint32), start))

    def carry(
        self,
        chunks: NDArray[np.uint32],
        counts: NDArray[np.uint32],
        offsets: NDArray[np.uint64],
        renumbered: NDArray[np.int64],
    ) -> None:
        """Add the postings (p,) of an index before; its terms have the first numbers, sorted.

        `renumbered` gives the new numbers of its chunks, ascending; negative ones are left out.
        """
        frequencies = np.zeros(len(offsets) - 1, dtype=np.int64)
        ranges = list(_ranges(np.diff(offsets).astype(np.int64)))
        with self._path.open("ab") as file:
            start = file.tell()
            for first, last in ranges:
                ends = offsets[first : last + 1].astype(np.int64)
                numbers = renumbered[chunks[ends[0] : ends[-1]]]
                before = np.concatenate([[0], np.cumsum(numbers >= 0)])
                frequencies[first:last] = np.diff(before[ends - ends[0]])
                file.write(numbers[numbers >= 0].astype(np.uint32).data)
            for first, last in ranges:
                span = slice(int(offsets[first]), int(offsets[last]))
                file.write(counts[span][renumbered[chunks[span]] >= 0].data)
        found = np.flatnonzero(frequencies).astype(np.uint32)
        self._runs.append(_Run(found, frequencies[found].astype(np.uint32), start))

    def frequencies(self, terms: int) -> NDArray[np.int64]:
        """Return how many postings each of the `terms` numbers has."""
        total = np.zeros(terms, dtype=np.int64)
        for run in self._runs:
            total[run.terms] += run.frequencies
        return total

    def merged(self, rank: NDArray[np.uint32]) -> Iterator[TermRange]:
        """Yield all postings by the rank (v,) of their term in the sorted vocabulary, then by
        chunk; terms without postings have no rank."""
        frequencies = self.frequencies(len(rank))
        used = np.flatnonzero(frequencies)
        by_rank = np.zeros(len(used), dtype=np.int64)
        by_rank[rank[used]] = frequencies[used]
        with self._path.open("rb") as file:
            for first, last in _ranges(by_rank):
                yield self._range(file, rank, first, last)

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def _range(self, file: BinaryIO, rank: NDArray[np.uint32], first: int, last: int) -> TermRange:
        none = np.zeros(0, dtype=np.uint32)
        terms, chunks, counts = [none], [none], [none]
        for run in self._runs:
            ranks = rank[run.terms]
            inside = slice(*np.searchsorted(ranks, [first, last]).tolist())
            before = int(run.frequencies[: inside.start].sum(dtype=np.int64))
            size = int(run.frequencies.sum(dtype=np.int64))
            length = int(run.frequencies[inside].sum(dtype=np.int64))
            terms.append(np.repeat(ranks[inside], run.frequencies[inside]))
            chunks.append(_read(file, run.start + before * _WORD, length))
            counts.append(_read(file, run.start + (size + before) * _WORD, length))
        joined, numbers = np.concatenate(terms), np.concatenate(chunks)
        order = np.argsort(joined.astype(np.uint64) << np.uint64(32) | numbers, kind="stable")
        return TermRange(joined[order], numbers[order], np.concatenate(counts)[order])


def _ranges(postings: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of successive terms that have RUN_POSTINGS together, or are one term."""
    ends = np.cumsum(postings)
    first = 0
    while first < len(postings):
        limit = ends[first] - postings[first] + RUN_POSTINGS
        last = max(first + 1, int(np.searchsorted(ends, limit, side="right")))
        yield first, last
        first = last


def _read(file: BinaryIO, start: int, length: int) -> NDArray[np.uint32]:
    file.seek(start)
    return np.frombuffer(file.read(length * _WORD), dtype=np.uint32)
