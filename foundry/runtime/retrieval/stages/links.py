"""Linked documents: adds documents one link away from the best results, in both directions.

The score of a linked document is a share of the score of the best result linked with it, and always
below the lowest score of the best results.
"""

from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from ...index.documents import Documents
from ...index.layout import open_array
from ...index.protocols import Mask
from ...index.reader import Index, OpenedIndex
from ...index.records import count_of
from ..candidates import SCORE_DIGITS, Candidates
from ..journal import Journal

_STEP = 10.0**-SCORE_DIGITS  # Smallest difference between two scores.


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The links of each document, in both directions.

    Offsets (m + 1,) point into document numbers (l,); `sources` are documents that link to a
    document.
    """

    offsets: NDArray[np.uint64]
    targets: NDArray[np.uint32]
    source_offsets: NDArray[np.uint64]
    sources: NDArray[np.uint32]

    @classmethod
    def of(cls, offsets: NDArray[np.uint64], targets: NDArray[np.uint32]) -> "LinkGraph":
        """Return the graph of these links, with the reverse links derived from them."""
        count = len(offsets) - 1
        numbers = np.repeat(np.arange(count, dtype=np.uint32), np.diff(offsets).astype(np.int64))
        source_offsets = np.zeros(count + 1, dtype=np.uint64)
        np.cumsum(np.bincount(targets, minlength=count), out=source_offsets[1:])
        return cls(offsets, targets, source_offsets, numbers[np.argsort(targets, kind="stable")])

    def within(self, documents: Mask) -> "LinkGraph":
        """Return the graph of the links among documents (m,), renumbered from 0."""
        numbers = np.repeat(np.arange(len(documents)), np.diff(self.offsets).astype(np.int64))
        kept = documents[numbers] & documents[self.targets]
        ends = np.concatenate([[0], np.cumsum(kept)])[self.offsets.astype(np.int64)]
        offsets = np.append(ends[:1], ends[1:][documents]).astype(np.uint64)
        places = np.cumsum(documents, dtype=np.uint32) - np.uint32(1)
        return LinkGraph.of(offsets, places[self.targets[kept]])

    def neighbours(self, document: int, count: int) -> list[int]:
        """Return up to `count` documents that a document links to or is linked from, each once.

        The directions alternate: outgoing links in the order of its text, incoming links in index
        order.
        """
        found: dict[int, None] = {}
        outgoing = self.targets[slice(*self.offsets[document : document + 2].tolist())]
        incoming = self.sources[slice(*self.source_offsets[document : document + 2].tolist())]
        for pair in zip_longest(outgoing[:count].tolist(), incoming[:count].tolist()):
            found.update(dict.fromkeys(number for number in pair if number is not None))
        return [*found][:count]


def open_graph(index: OpenedIndex) -> LinkGraph:
    """Memory-map the graph of an index. Raises IndexUnusableError."""
    offsets = open_array(index.layout.link_offsets, np.uint64, (index.manifest.documents + 1,))
    targets = open_array(index.layout.link_targets, np.uint32, (int(offsets[-1]),))
    return LinkGraph.of(offsets, targets)


def add_linked(
    candidates: Candidates,
    index: Index,
    allowed: NDArray[np.bool_] | None,
    journal: Journal,
    *,
    seeds: int,
    neighbours: int,
    factor: float,
) -> Candidates:
    """Add documents linked from or to the best `seeds` candidates, up to `neighbours` for each.

    A linked document is represented by its best candidate. If it has none, its first chunk is
    added, unless the filters exclude that chunk (`allowed`, (n,)). A candidate that already scores
    higher keeps its score, and the seeds' own documents do not change.
    """
    seed_places = candidates.best_places()[:seeds]
    if not len(seed_places):
        return candidates
    graph = index.part(open_graph)
    firsts = index.part(Documents.open).first_chunks
    documents = np.searchsorted(firsts[1:], candidates.chunks.astype(np.uint64), "right")
    ceiling = max(0.0, float(candidates.scores[seed_places[-1]]) - _STEP)
    reached: dict[int, float] = {}
    for place in seed_places:
        score = min(ceiling, factor * float(candidates.scores[place]))
        for target in graph.neighbours(int(documents[place]), neighbours):
            reached[target] = max(score, reached.get(target, 0.0))
    for document in documents[seed_places]:
        reached.pop(int(document), None)
    linked = _represent(firsts, candidates, documents, allowed, reached)
    if not linked:
        return candidates
    sentence = (
        f"{count_of(len(linked), 'document')} ranked higher because of links with the best results."
    )
    journal.note("links", sentence, documents=len(linked))
    return _raise(_include(candidates, linked), linked, factor)


def _represent(
    firsts: NDArray[np.uint64],
    candidates: Candidates,
    documents: NDArray[np.int64],
    allowed: NDArray[np.bool_] | None,
    reached: dict[int, float],
) -> dict[int, float]:
    """Return a chunk and its new score for each linked document that has a lower score so far."""
    linked = {}
    for document, score in reached.items():
        places = np.flatnonzero(documents == document)
        if len(places):
            best = int(places[np.argmax(candidates.scores[places])])
            if float(candidates.scores[best]) < score:
                linked[int(candidates.chunks[best])] = score
            continue
        first, last = firsts[document : document + 2].tolist()
        if first < last and (allowed is None or allowed[first]):
            linked[first] = score
    return linked


def _include(candidates: Candidates, chunks: dict[int, float]) -> Candidates:
    """Return the candidates with added chunks, which no lane has scored."""
    merged = np.union1d(candidates.chunks, np.array([*chunks], dtype=np.int64))
    places = np.searchsorted(merged, candidates.chunks)

    def spread(values: NDArray[np.float64], absent: float) -> NDArray[np.float64]:
        spacious = np.full(len(merged), absent)
        spacious[places] = values
        return spacious

    def spread_ranks(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        spacious = np.zeros(len(merged), dtype=np.int64)
        spacious[places] = ranks
        return spacious

    return replace(
        candidates,
        chunks=merged,
        semantic=None if candidates.semantic is None else spread(candidates.semantic, np.nan),
        semantic_ranks=spread_ranks(candidates.semantic_ranks),
        keyword=None if candidates.keyword is None else spread(candidates.keyword, np.nan),
        keyword_ranks=spread_ranks(candidates.keyword_ranks),
        scores=spread(candidates.scores, 0.0),
        boosts={name: spread(factors, 1.0) for name, factors in candidates.boosts.items()},
    )


def _raise(candidates: Candidates, linked: dict[int, float], factor: float) -> Candidates:
    """Set new scores for these chunks, reported as the boost `links`."""
    scores, factors = candidates.scores.copy(), np.ones(len(candidates.scores))
    for chunk, score in linked.items():
        place = int(np.searchsorted(candidates.chunks, chunk))
        scores[place], factors[place] = score, factor
    raised = candidates.with_scores(scores)
    return replace(raised, boosts={**raised.boosts, "links": factors})
