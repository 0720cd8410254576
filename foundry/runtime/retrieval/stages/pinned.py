"""Pinned answers: documents that the owner ranks first for a query.

The index maps keys of queries to document ids. Case, punctuation and question words are ignored:
`VPN` and `what is the VPN?` have the same key.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from ...errors import IndexUnusableError, cause_of
from ...index.documents import DocumentRecord, Documents
from ...index.heading_terms import heading_term
from ...index.protocols import LaneHits, Mask
from ...index.reader import Index, OpenedIndex
from ...index.records import count_of
from ...index.tokens import Tokenizer
from ..candidates import Candidates
from ..journal import Journal
from ..results import Hit, rank_hits

FILE = "pinned.json"  # In the index folder.
PINNED_SCORE = 1.0  # The highest possible score.


@dataclass(frozen=True, slots=True)
class Pinned:
    """The ids of pinned documents, by query key."""

    documents: dict[str, list[str]]

    @classmethod
    def open(cls, index: OpenedIndex) -> "Pinned":
        """Read the pins of an index. Raises IndexUnusableError."""
        path = index.layout.root / FILE
        try:
            pinned = json.loads(path.read_bytes())
            return cls({str(key): [str(name) for name in ids] for key, ids in pinned.items()})
        except (OSError, ValueError, AttributeError, TypeError) as error:
            problem = f"{path}: unreadable: {cause_of(error)}"
            raise IndexUnusableError(f"{problem}; pinned answers need it") from None

    def within(self, _documents: Mask) -> "Pinned":
        """Return all pins: ids reveal nothing, and are only looked up among visible documents."""
        return self


def pinned_key(tokenizer: Tokenizer, query: str) -> str | None:
    """Return the key of a query; None if it has no meaningful word, or too many."""
    return heading_term(tokenizer.tokenize_query(query)[1])


def pin_documents(
    hits: Iterable[Hit],
    index: Index,
    candidates: Candidates,
    allowed: Mask | None,
    query: str,
    journal: Journal,
) -> Iterator[Hit]:
    """Yield the documents pinned to a query, then the hits, best first.

    A pinned document is shown by its best candidate, or else by its first chunk that is `allowed`
    (n,). Pins keep the owner's order, above hits with the same score.
    """
    key, documents = pinned_key(index.tokenizer, query), index.part(Documents.open)
    ids = index.part(Pinned.open).documents.get(key or "", [])
    named = filter(None, map(documents.find, ids))
    found = (_find_hit(index, document, candidates, allowed) for document in named)
    pinned = [replace(hit, pinned=True, boosts={}) for hit in found if hit is not None]
    if not pinned:
        return iter(hits)
    sentence = f"The owner pinned {count_of(len(pinned), 'document')} to this query."
    journal.note("pinned", sentence, documents=len(pinned))
    shown = {hit.id for hit in pinned}
    return chain(pinned, (hit for hit in hits if hit.id not in shown))


def _find_hit(
    index: Index, document: DocumentRecord, candidates: Candidates, allowed: Mask | None
) -> Hit | None:
    """Return the hit of a document; None if none of its chunks is allowed."""
    first, end = document.chunk_start, document.chunk_start + document.chunks
    places = np.arange(*candidates.chunks.searchsorted([first, end]))
    if len(places):
        scores = np.zeros_like(candidates.scores)
        scores[places[candidates.scores[places].argmax()]] = PINNED_SCORE
        return next(rank_hits(index, candidates.with_scores(scores), 1))
    if allowed is not None and not allowed[first:end].any():
        return None
    number = first if allowed is None else first + int(allowed[first:end].argmax())
    found = Candidates.by_keyword(LaneHits(np.array([number]), np.array([PINNED_SCORE])))
    unranked = replace(found, keyword=None, keyword_ranks=np.zeros(1, dtype=np.int64))
    return next(rank_hits(index, unranked, 1))
