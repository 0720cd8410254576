"""Builds the keyword lane's files: vocabulary, postings and impacts.

The impact of a text's term is its BM25 weight. That of a heading term, which a chunk has when its
heading or its document's title says the same as a query, is `HEADING_FACTOR` times the sum of the
idf of the terms that it is made of: more than a text could reach by repeating them. The impact of a
name as it is written is its own idf, so that it counts beside the heading term.
"""

import math
from array import array
from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foundry.indexing.files import write_array
from foundry.prepared import ChunkTerms, unpack
from foundry.runtime.layout import IndexLayout
from foundry.runtime.tokens import HEADING_MARK, SURFACE_MARK

K1 = 1.5
B = 0.75
HEADING_FACTOR = 1.0


class PostingsBuilder:
    """Collects term counts document by document and writes them as a compressed sparse matrix."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._terms = array("I")
        self._counts = array("I")
        self._distinct = array("I")
        self._lengths = array("I")

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

    def write(self, layout: IndexLayout) -> tuple[int, int]:
        """Write the files; returns how many terms and postings there are."""
        encoded = {term.encode(): number for term, number in self._numbers.items()}
        vocabulary = sorted(encoded)
        layout.terms.write_bytes(b"".join(vocabulary))
        write_array(layout.term_offsets, offsets_of([len(term) for term in vocabulary]))

        rank = np.empty(len(vocabulary), dtype=np.uint32)
        rank[[encoded[term] for term in vocabulary]] = np.arange(len(vocabulary), dtype=np.uint32)
        terms = rank[np.frombuffer(self._terms, dtype=np.uint32)]
        distinct = np.frombuffer(self._distinct, dtype=np.uint32)
        chunks = np.repeat(np.arange(len(distinct), dtype=np.uint32), distinct)
        order = np.argsort(terms, kind="stable")
        terms, chunks = terms[order], chunks[order]
        counts = np.frombuffer(self._counts, dtype=np.uint32)[order]
        frequencies = np.bincount(terms, minlength=len(vocabulary))
        offsets = offsets_of(frequencies)
        write_array(layout.posting_offsets, offsets)
        write_array(layout.posting_chunks, chunks)

        lengths = np.frombuffer(self._lengths, dtype=np.uint32)
        average = int(lengths.sum()) / max(1, len(lengths))
        # Elementwise arithmetic rounds alike everywhere; logarithms need not, so they are rounded.
        idf = np.array([_idf(len(lengths), int(df)) for df in frequencies], dtype=np.float64)
        norms = K1 * (1 - B + B * (lengths / max(1.0, average)))
        impacts = idf[terms] * (counts / (counts + norms[chunks]))
        self._set_heading_impacts(vocabulary, idf, offsets, impacts)
        write_array(layout.posting_impacts, impacts.astype(np.float32))
        return len(vocabulary), len(chunks)

    def _set_heading_impacts(
        self,
        vocabulary: list[bytes],
        idf: NDArray[np.float64],
        offsets: NDArray[np.uint64],
        impacts: NDArray[np.float64],
    ) -> None:
        mark = HEADING_MARK.encode()
        first = bisect_left(vocabulary, mark)
        last = bisect_left(vocabulary, bytes([mark[0] + 1]))
        for number in range(first, last):
            if vocabulary[number].startswith(SURFACE_MARK.encode()):
                total = float(idf[number])
            else:
                total = 0.0
                for part in vocabulary[number][1:].split(b" "):
                    total += float(idf[bisect_left(vocabulary, part)])
            impacts[int(offsets[number]) : int(offsets[number + 1])] = HEADING_FACTOR * total


def _idf(chunk_count: int, document_frequency: int) -> float:
    ratio = (chunk_count - document_frequency + 0.5) / (document_frequency + 0.5)
    return round(math.log(1 + ratio), 9)


def offsets_of(lengths: ArrayLike) -> NDArray[np.uint64]:
    """Offsets (n + 1,) of n stretches of the given lengths."""
    lengths = np.asarray(lengths, dtype=np.uint64)
    offsets = np.zeros(len(lengths) + 1, dtype=np.uint64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
