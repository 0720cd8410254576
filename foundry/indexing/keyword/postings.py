"""Builds the files of the keyword lane: vocabulary, postings and impacts.

The impact of a text term is its BM25 weight. A chunk has heading terms for its names, such as its
heading or its document's title; a query for a name contains one of them. The impact of a heading
term is `HEADING_FACTOR` times the summed idf of the terms in the heading, which is more than a text
could reach by repeating them. The impact scales with the term's count relative to `NAMED`: titles
rank before headings, and headings before their parts. In addition, the term for a name's exact
spelling has an impact of `HEADING_FACTOR` times its own idf.
"""

import math
from array import array
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.documents.prepared import ChunkTerms, unpack
from foundry.indexing.carried.carried import Carried
from foundry.indexing.files import ArrayFile, offsets_of, open_stored, write_array
from foundry.indexing.keyword.runs import RUN_POSTINGS, PostingRuns
from foundry.indexing.keyword.vocabulary import Vocabulary
from foundry.runtime.index.heading_terms import NAMED
from foundry.runtime.index.idf import idf
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.statistics import CHUNK_LENGTHS, MEAN_LENGTH, POSTING_COUNTS

K1 = 1.5
B = 0.75
HEADING_FACTOR = 1.0

COUNTS = "postings.counts"
"""The array of term counts per posting, left for the next build."""

MEAN_BITS = 6
"""Bits of a rounded mean length; the rounding error is at most 1.6 %."""


class PostingsBuilder:
    """Collects term counts by document, and writes them as a compressed sparse matrix.

    Until then, they are in a file in `folder`.
    """

    def __init__(self, folder: Path, carried: Carried) -> None:
        self.vocabulary = Vocabulary(carried.index)
        self._carried = carried
        self._runs = PostingRuns(folder / "postings.runs")
        self._lengths = carried.table("lengths", "I")
        self._terms, self._chunks, self._counts = array("I"), array("I"), array("I")

    def add(self, documents: Sequence[ChunkTerms]) -> list[NDArray[np.uint32]]:
        """Add the terms of the next documents' chunks; return each document's term numbers."""
        vocabularies, offsets, numbers, counts, lengths = zip(*documents, strict=True)
        sizes = [*map(len, vocabularies)]
        places = self.vocabulary.numbers([*chain.from_iterable(vocabularies)])
        starts = np.repeat(offsets_of(sizes)[:-1], [len(own) // 4 for own in numbers])
        terms = unpack(b"".join(numbers), np.uint32) + starts
        distinct = [np.diff(unpack(each, np.uint32)) for each in offsets]
        chunks = np.arange(sum(map(len, distinct)), dtype=np.uint32) + self._lengths.entries
        self._lengths.add_many(map(len, distinct), b"".join(lengths))
        self._terms.frombytes(places[terms].tobytes())
        self._chunks.frombytes(np.repeat(chunks, np.concatenate(distinct)).tobytes())
        self._counts.frombytes(b"".join(counts))
        if len(self._terms) >= RUN_POSTINGS:
            self._end_run()
        return np.split(places, np.cumsum(sizes)[:-1])

    def write(
        self, layout: IndexLayout, statistics: Path | None = None, *, in_steps: bool = False
    ) -> "WrittenPostings":
        """Write the files; counts and lengths are also written to the `statistics` folder.

        `in_steps` rounds the mean length, so that small changes do not affect it.
        """
        self._end_run()
        self._copy_postings()
        kept = [path for path in (self._carried.path(COUNTS),) if path is not None]
        kept += [statistics / POSTING_COUNTS] if statistics is not None else []
        frequencies = self._runs.frequencies(len(self.vocabulary))
        order = self.vocabulary.write(layout, frequencies)
        ranks = np.zeros(len(frequencies), dtype=np.uint32)
        ranks[order] = np.arange(len(order), dtype=np.uint32)
        offsets = offsets_of(frequencies[order])
        write_array(layout.posting_offsets, offsets)

        (chunk_lengths,) = self._lengths.stored().columns
        mean = max(1.0, int(chunk_lengths.sum()) / max(1, len(chunk_lengths)))
        if in_steps:
            mean = _round_mean(mean)
        idf = _idf(len(chunk_lengths), frequencies[order])
        norms = K1 * (1 - B + B * (chunk_lengths / mean))
        first, of_headings = self.vocabulary.heading_impacts(order, idf)
        of_headings *= HEADING_FACTOR
        with ExitStack() as files:
            chunks = files.enter_context(closing(ArrayFile(layout.posting_chunks, np.uint32)))
            impacts = files.enter_context(closing(ArrayFile(layout.posting_impacts, np.float32)))
            counts = [files.enter_context(closing(ArrayFile(path, np.uint32))) for path in kept]
            for part in self._runs.merged(ranks):
                values = norms[part.chunks]
                values += part.counts
                np.divide(part.counts, values, out=values)
                values *= idf[part.terms]
                ends = np.array([first, first + len(of_headings)], dtype=np.uint32)
                of_heading = slice(*np.searchsorted(part.terms, ends))
                shares = part.counts[of_heading] / NAMED
                values[of_heading] = shares * of_headings[part.terms[of_heading] - first]
                chunks.append(part.chunks)
                impacts.append(values.astype(np.float32))
                for file in counts:
                    file.append(part.counts)
        if statistics is not None:
            write_array(statistics / CHUNK_LENGTHS, chunk_lengths)
            write_array(statistics / MEAN_LENGTH, np.array([mean], dtype=np.float64))
        self._runs.remove()
        return WrittenPostings(len(order), int(offsets[-1]), frequencies, ranks)

    def _copy_postings(self) -> None:
        """Add the postings of all copied documents, with the new chunk numbers."""
        index, counts = self._carried.index, self._carried.array(COUNTS)
        if index is not None and counts is not None:
            chunks, offsets = open_stored(index.posting_chunks), open_stored(index.posting_offsets)
            self._runs.copy(chunks, counts, offsets, self._carried.chunk_numbers)

    def _end_run(self) -> None:
        """Write the postings in memory as a run."""
        self._runs.add(
            np.array(self._terms, dtype=np.uint32),
            np.array(self._chunks, dtype=np.uint32),
            np.array(self._counts, dtype=np.uint32),
            self.vocabulary,
        )
        self._terms, self._chunks, self._counts = array("I"), array("I"), array("I")


@dataclass(frozen=True, slots=True)
class WrittenPostings:
    """The written files: the numbers of terms and postings.

    For each term number, there are also the document frequency, counted in chunks, and the rank in
    the vocabulary.
    """

    terms: int
    postings: int
    frequencies: NDArray[np.int64]
    ranks: NDArray[np.uint32]

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of terms and postings."""
        return self.terms, self.postings


def _round_mean(mean: float) -> float:
    """Round to MEAN_BITS significant bits."""
    fraction, exponent = math.frexp(mean)
    return math.ldexp(round(math.ldexp(fraction, MEAN_BITS)), exponent - MEAN_BITS)


def _idf(chunk_count: int, frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the idf (v,) of terms from their document frequencies, counted in chunks."""
    different, places = np.unique(frequencies, return_inverse=True)
    # Arithmetic rounds alike on every machine; logarithms may not, so they are rounded.
    return np.array([round(idf(count, chunk_count), 9) for count in different.tolist()])[places]
