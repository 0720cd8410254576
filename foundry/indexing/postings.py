"""Builds the keyword lane's files: vocabulary, postings and impacts.

The impact of a text's term is its BM25 weight. That of a heading term, which a chunk has when its
heading or its document's title says the same as a query, is `HEADING_FACTOR` times the sum of the
idf of the terms that it is made of: more than a text could reach by repeating them. Where it stands
before a dash or a colon, `BEGINNING_SHARE` of that, so that the same heading without more comes
first. The impact of a name as it is written is its own idf, so that it counts beside the heading
term.
"""

import math
from array import array
from bisect import bisect_left
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foundry.indexing.array_file import ArrayFile
from foundry.indexing.files import write_array
from foundry.indexing.runs import RUN_POSTINGS, PostingRuns
from foundry.indexing.terms import NAMED
from foundry.records.prepared import ChunkTerms, unpack
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.tokens import HEADING_MARK, SURFACE_MARK

K1 = 1.5
B = 0.75
HEADING_FACTOR = 1.0
BEGINNING_SHARE = 0.75


class PostingsBuilder:
    """Collects term counts document by document and writes them as a compressed sparse matrix.

    Until then they wait in a file of `folder`.
    """

    def __init__(self, folder: Path) -> None:
        self._numbers: dict[str, int] = {}
        self._runs = PostingRuns(folder / "postings.runs")
        self._terms = array("I")
        self._counts = array("I")
        self._lengths = array("I")
        self._distinct = array("I")

    def add(self, terms: ChunkTerms) -> None:
        """Take the terms of the next document's chunks."""
        numbers = self._numbers
        places = [numbers.setdefault(term, len(numbers)) for term in terms.vocabulary]
        own = unpack(terms.numbers, np.uint32)
        distinct = np.diff(unpack(terms.offsets, np.uint32))
        for column, values in (
            (self._terms, np.array(places, dtype=np.uint32)[own]),
            (self._counts, unpack(terms.counts, np.uint32)),
            (self._distinct, distinct),
            (self._lengths, unpack(terms.lengths, np.uint32)),
        ):
            column.frombytes(values.astype(np.uint32, copy=False).tobytes())
        if len(self._terms) >= RUN_POSTINGS:
            self._end_run()

    def write(self, layout: IndexLayout) -> tuple[int, int]:
        """Write the files; returns how many terms and postings there are."""
        self._end_run()
        encoded = [term.encode() for term in self._numbers]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        vocabulary = [encoded[number] for number in order]
        layout.terms.write_bytes(b"".join(vocabulary))
        write_array(layout.term_offsets, offsets_of([len(term) for term in vocabulary]))

        rank = np.empty(len(order), dtype=np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        frequencies = self._runs.frequencies(len(order))[order]
        offsets = offsets_of(frequencies)
        write_array(layout.posting_offsets, offsets)

        lengths = np.frombuffer(self._lengths, dtype=np.uint32)
        average = int(lengths.sum()) / max(1, len(lengths))
        # Elementwise arithmetic rounds alike everywhere; logarithms need not, so they are rounded.
        idf = np.array([_idf(len(lengths), int(df)) for df in frequencies], dtype=np.float64)
        norms = K1 * (1 - B + B * (lengths / max(1.0, average)))
        first, of_headings = _heading_impacts(vocabulary, idf)
        chunks = ArrayFile(layout.posting_chunks, np.uint32)
        impacts = ArrayFile(layout.posting_impacts, np.float32)
        with closing(chunks), closing(impacts):
            for part in self._runs.merged(rank):
                values = idf[part.terms] * (part.counts / (part.counts + norms[part.chunks]))
                is_heading = (part.terms >= first) & (part.terms < first + len(of_headings))
                shares = np.where(part.counts[is_heading] == NAMED, 1, BEGINNING_SHARE)
                values[is_heading] = shares * of_headings[part.terms[is_heading] - first]
                chunks.append(part.chunks)
                impacts.append(values.astype(np.float32))
        self._runs.remove()
        return len(vocabulary), int(offsets[-1])

    def _end_run(self) -> None:
        """Move what is held in memory into a run."""
        after = len(self._lengths)
        distinct = np.array(self._distinct, dtype=np.uint32)
        self._runs.add(
            np.array(self._terms, dtype=np.uint32),
            np.repeat(np.arange(after - len(distinct), after, dtype=np.uint32), distinct),
            np.array(self._counts, dtype=np.uint32),
            list(self._numbers),
        )
        self._terms, self._counts, self._distinct = array("I"), array("I"), array("I")


def _heading_impacts(
    vocabulary: list[bytes], idf: NDArray[np.float64]
) -> tuple[int, NDArray[np.float64]]:
    """Return the first heading term of a sorted vocabulary, and the impacts of it and those after
    it.

    What a heading consists of need not be a term of a text, as the whole of `shop.Store.size` is
    not where it is put together from its parts: then it is as rare as the heading.
    """
    mark = HEADING_MARK.encode()
    first = bisect_left(vocabulary, mark)
    last = bisect_left(vocabulary, bytes([mark[0] + 1]))
    impacts = np.zeros(last - first)
    for number in range(first, last):
        if vocabulary[number].startswith(SURFACE_MARK.encode()):
            total = float(idf[number])
        else:
            total = 0.0
            for part in vocabulary[number][1:].split(b" "):
                place = bisect_left(vocabulary, part)
                is_term = place < len(vocabulary) and vocabulary[place] == part
                total += float(idf[place if is_term else number])
        impacts[number - first] = HEADING_FACTOR * total
    return first, impacts


def _idf(chunk_count: int, document_frequency: int) -> float:
    ratio = (chunk_count - document_frequency + 0.5) / (document_frequency + 0.5)
    return round(math.log(1 + ratio), 9)


def offsets_of(lengths: ArrayLike) -> NDArray[np.uint64]:
    """Offsets (n + 1,) of n stretches of the given lengths."""
    lengths = np.asarray(lengths, dtype=np.uint64)
    offsets = np.zeros(len(lengths) + 1, dtype=np.uint64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
