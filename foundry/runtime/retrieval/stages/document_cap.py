"""Limits the hits per document, to make room for other documents."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ...index.records import count_of
from ..journal import Journal
from ..results import Hit

# Long documents have many hits, and skipping one costs a quarter of reading one.
HIT_UNITS = 250


def cap_documents(hits: Iterable[Hit], journal: Journal, *, most: int) -> Iterator[Hit]:
    """Yield the hits, best first, at most `most` per document; stop when the budget is spent."""
    seen: Counter[str] = Counter()
    left_out = 0
    for hit in hits:
        seen[hit.document_id] += 1
        if seen[hit.document_id] <= most:
            yield hit
        elif not journal.spend("document_cap", HIT_UNITS):
            break
        else:
            left_out += 1
            passages = count_of(left_out, "passage")
            sentence = f"Left out {passages}, since enough hits are from the same document."
            journal.note("document_cap", sentence, left_out=left_out)
