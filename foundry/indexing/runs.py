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

    def frequencies(self, terms: int) -> NDArray[np.int64]:
        """Return how many postings each of the `terms` numbers has."""
        total = np.zeros(terms, dtype=np.int64)
        for run in self._runs:
            total[run.terms] += run.frequencies
        return total

    def merged(self, rank: NDArray[np.uint32]) -> Iterator[TermRange]:
        """Yield all postings by the rank (v,) of their term in the sorted vocabulary, then by
        chunk."""
        by_rank = np.zeros(len(rank), dtype=np.int64)
        by_rank[rank] = self.frequencies(len(rank))
        ends = np.cumsum(by_rank)
        first = 0
        with self._path.open("rb") as file:
            while first < len(rank):
                limit = ends[first] - by_rank[first] + RUN_POSTINGS
                last = max(first + 1, int(np.searchsorted(ends, limit, side="right")))
                yield self._range(file, rank, first, last)
                first = last

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
        joined = np.concatenate(terms)
        order = np.argsort(joined, kind="stable")
        return TermRange(
            joined[order], np.concatenate(chunks)[order], np.concatenate(counts)[order]
        )


def _read(file: BinaryIO, start: int, length: int) -> NDArray[np.uint32]:
    file.seek(start)
    return np.frombuffer(file.read(length * _WORD), dtype=np.uint32)
