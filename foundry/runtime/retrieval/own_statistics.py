"""A view whose scores depend only on its visible documents.

Document frequencies, lengths and the background of cosines are statistics over all documents, so
scores made from them could reveal what hidden documents say. Here BM25 is computed for each query
over the visible chunks, from stored counts and lengths. Cosines do not depend on other chunks, so
all visible vectors are compared. The match is graded from both, without measurements over all
documents.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexUnusableError
from ..index.heading_terms import HEADING_MARK, NAMED, heading_parts
from ..index.idf import idf
from ..index.layout import open_array
from ..index.protocols import Posting, Scores
from ..index.reader import Index, OpenedIndex
from ..index.statistics import CHUNK_LENGTHS, POSTING_COUNTS, STATISTICS
from .filters import Filters
from .view import KNOWN_OF_VECTORS, View
from .visible import HIDDEN, Selection, VisibleTerms, VisibleVectors

MEASURED = {"background": 0.5}  # A typical value instead of the measured one; see `hybrid`


@dataclass(frozen=True, slots=True)
class TermCounts:
    """The inputs of BM25: the term count of each posting, and the length of each chunk."""

    of_postings: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    @classmethod
    def open(cls, index: OpenedIndex) -> "TermCounts":
        """Memory-map the counts of an index. Raises IndexUnusableError if it has none."""
        folder, manifest = index.layout.root / STATISTICS, index.manifest
        try:
            return cls(
                open_array(folder / POSTING_COUNTS, np.uint32, (manifest.postings,)),
                open_array(folder / CHUNK_LENGTHS, np.uint32, (manifest.chunks,)),
            )
        except IndexUnusableError as error:
            hint = 'build the index with server.access_statistics = "visible"'
            raise IndexUnusableError(error.message, hint=hint) from None


def view_by_own_statistics(index: OpenedIndex, filters: Filters | None) -> Index:
    """Return a view like that of `view_of`, but whose scores depend only on its own documents.

    It has no version. Raises IndexUnusableError if the index was built without counts.
    """
    counts, selection = index.part(TermCounts.open), Selection.of(index, filters)
    lengths, dense = counts.lengths[selection.chunks], index.manifest.dense
    keyword_lane = _OwnTerms.of(
        index,
        selection,
        counts=counts,
        average=int(lengths.sum()) / max(1, len(lengths)),
        k1=index.manifest.k1,
        b=index.manifest.b,
    )
    dense_lane = None
    if hasattr(index, "dense_lane"):
        lane: Any = index.dense_lane
        # Every chunk is a candidate, since sketches depend on the mean of all vectors.
        whole = replace(lane, candidates=index.chunk_count, spread=None)
        dense_lane = VisibleVectors(whole, selection)
    return View(
        index,
        selection,
        version="",  # A version would identify the content of all files.
        dense=dense and {name: {**dense, **MEASURED}[name] for name in KNOWN_OF_VECTORS},
        keyword_lane=keyword_lane,
        dense_lane=dense_lane,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _OwnTerms(VisibleTerms):
    counts: TermCounts
    average: float
    k1: float
    b: float

    def postings(self, terms: Sequence[str]) -> Iterator[Posting]:
        for term, times in sorted(Counter(terms).items()):
            start, end = self.whole.find(term)
            chunks = self.whole.chunks[start:end]
            places = self.places.take(chunks)
            seen = places != HIDDEN
            if seen.any():
                lengths = self.counts.lengths.take(chunks[seen])
                counts = self.counts.of_postings[start:end][seen]
                yield places[seen].view(np.uint32), times * self._impacts(term, lengths, counts)

    def _impacts(
        self, term: str, lengths: NDArray[np.uint32], counts: NDArray[np.uint32]
    ) -> Scores:
        """Return the BM25 impacts (m,) of a term for the chunks that contain it."""
        own = idf(len(counts), self.chunk_count)
        if term.startswith(HEADING_MARK):
            found = map(self.frequency, heading_parts(term))
            weight = sum(idf(count, self.chunk_count) if count else own for count in found)
            return weight * counts / NAMED
        norms = self.k1 * (1 - self.b + self.b * (lengths / self.average))
        impacts: Scores = own * counts / (counts + norms)
        return impacts
