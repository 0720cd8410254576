"""Groups results by document: the best passage of each, together with its next best ones."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from ..index.documents import Documents
from ..index.protocols import Numbers
from ..index.reader import Index
from .candidates import Candidates
from .journal import Journal
from .results import Hit, rank_hits

MORE = 2  # Further passages per document.
KEPT = 3  # Candidates kept per document; the best may be dropped as a near-duplicate.
NO_PARENT = -1
LEAST_SHARE = 0.5  # Share of the best passage's score that a further passage must reach.


def best_of_documents(candidates: Candidates, index: Index) -> Candidates:
    """Return the KEPT best candidates of each document."""
    order = candidates.best_places()
    documents = _documents_of(index, candidates.chunks)[order]
    together = np.argsort(documents, kind="stable")
    starts = np.flatnonzero(np.diff(documents[together], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return candidates.at(np.sort(order[together[place < KEPT]]))


def add_more(
    hits: Iterator[Hit], index: Index, candidates: Candidates, journal: Journal
) -> Iterator[Hit]:
    """Yield the first hit of each document; hits on the page get the document's next best passages.

    Further passages come from the same candidates as the best one, so they do not depend on the
    page.
    """
    found = [*islice(_once(hits), journal.wanted)]
    shown = found[journal.offset :]
    more = _find_more(shown, index, candidates)
    yield from found[: journal.offset]
    for hit in shown:
        yield replace(hit, more=tuple(more[hit.document_id]))


def _once(hits: Iterator[Hit]) -> Iterator[Hit]:
    seen = set[str]()
    for hit in hits:
        if hit.document_id not in seen:
            seen.add(hit.document_id)
            yield hit


def _find_more(
    hits: list[Hit], index: Index, candidates: Candidates
) -> defaultdict[str, list[Hit]]:
    """Return the next best passages of each hit's document, by its id."""
    # Hashes of ids can collide; the right document has a candidate with this id.
    numbers = [number for hit in hits for number in index.chunk_lines.numbers(hit.id)]
    wanted = _documents_of(index, np.array(numbers, dtype=np.int64))
    documents, levels = _documents_of(index, candidates.chunks), candidates.levels()
    places = np.flatnonzero(np.isin(documents, wanted))
    more: defaultdict[str, list[Hit]] = defaultdict(list)
    if not len(places):
        return more
    order = places[np.argsort(-candidates.scores[places], kind="stable")]
    picked = []
    for document in {*documents[places].tolist()}:
        own = order[documents[order] == document]
        first = levels[own].min()
        own = own[levels[own] == first]
        enough = candidates.scores[own] >= LEAST_SHARE * candidates.scores[own[0]]
        # Two more are picked, because a chunk may be the hit itself or repeat its text.
        picked.append(own[enough][: MORE + 2])
    best = {hit.document_id: hit for hit in hits}
    some = candidates.at(np.sort(np.concatenate(picked)))
    for other in rank_hits(index, some, len(some.chunks)):
        hit, those = best.get(other.document_id), more[other.document_id]
        if (
            hit is not None
            and len(those) < MORE
            and all(_differ(other, one) for one in (hit, *those))
        ):
            those.append(other)
    return more


def _differ(hit: Hit, other: Hit) -> bool:
    """Return whether two hits have different texts and parent passages."""
    parent = hit.position.get("parent_start", NO_PARENT)
    is_beside = parent != NO_PARENT and parent == other.position.get("parent_start")
    return hit.id != other.id and hit.text != other.text and not is_beside


def _documents_of(index: Index, chunks: Numbers) -> Numbers:
    firsts = index.part(Documents.open).first_chunks
    documents: Numbers = np.searchsorted(firsts[1:], chunks.astype(np.uint64), "right")
    return documents
